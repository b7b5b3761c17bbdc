// SPDX-License-Identifier: MIT
// Screen 8: analyses that answer with a plain list, each as a table. Which there are, and what their
// columns are, the program says: nothing here is of one analysis.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { num, objects, text } from '../../shared/api/columns';
import { LISTS } from '../../gen/tables';
import { byColumn, cellText } from '../../shared/lib/cells';
import type { Cell, PlainList } from '../../shared/lib/cells';
import { messageOf, plural } from '../../shared/lib/format';
import type { OnReady, ScreenSpec } from '../../shared/state/screens';
import { Command } from '../../shared/views/parts';
import { useApp } from '../../shared/views/use';

const SHOWN = 1000;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Rows({ list }: { list: PlainList }): JSX.Element {
  const [key, setKey] = useState('');
  const rows = key ? byColumn(list.rows, key) : list.rows;
  const kind = (unit: string): string => (unit === 'text' ? '' : 'num');
  return (
    <table>
      <thead>
        <tr>
          {list.columns.map(column => (
            <th key={column.key} scope="col" class={kind(column.unit)} title={column.text}>
              <button class="link" onClick={() => setKey(column.key)}>
                {column.head}
              </button>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {list.columns.map(column => (
              <td key={column.key} class={kind(column.unit)}>
                {cellText(row[column.key] ?? null, column.unit)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ListsScreen({ onReady }: { onReady: OnReady }): JSX.Element {
  const app = useApp();
  const [name, setName] = useState<string>(LISTS[0].name);
  const [list, setList] = useState<PlainList | null>(null);
  const [error, setError] = useState('');
  useEffect(() => onReady(null), []);
  useEffect(() => {
    let isGone = false;
    setList(null);
    setError('');
    void app
      .served!.source.json(name, { limit: SHOWN }, 'lists')
      .then(json => ({
        found: num(json, 'found'),
        columns: objects(json, 'columns').map(column => ({
          key: text(column, 'key'),
          head: text(column, 'head'),
          unit: text(column, 'unit'),
          text: text(column, 'text'),
        })),
        none: json['none'] ? text(json, 'none') : '',
        rows: objects(json, 'rows') as Record<string, Cell>[],
      }))
      .then(found => isGone || setList(found))
      .catch((why: unknown) => isGone || setError(messageOf(why)));
    return () => {
      isGone = true;
    };
  }, [name]);
  return (
    <main class="health" tabIndex={0} aria-label="Lists">
      <h2 class="headline">{capital(LISTS.find(one => one.name === name)!.text)}</h2>
      <p class="lead">
        {LISTS.map(one => (
          <button class="link" key={one.name} onClick={() => setName(one.name)}>
            {one.name}
          </button>
        ))}{' '}
        The same on the command line:{' '}
        <Command text={`weft ${name} ${app.served?.trace.name ?? ''}`} />
      </p>
      {error && (
        <p class="trouble" role="alert">
          {error}
        </p>
      )}
      {list && list.rows.length > 0 && <Rows list={list} />}
      {list?.rows.length === 0 && <p class="none-found">No rows{list.none && `: ${list.none}`}.</p>}
      {list && list.rows.length < list.found && (
        <p class="none-found">{plural(list.found - list.rows.length, 'more row')}</p>
      )}
    </main>
  );
}

export const LISTS_SCREEN: ScreenSpec = {
  key: 'lists',
  name: 'Lists',
  View: ListsScreen,
  kind: () => ' health-page',
  keys: [],
  help: [],
  status: () => '',
  Settings: () => <></>,
};
