// SPDX-License-Identifier: MIT
// Pinned cards, over the chart: facts that stay in view, and the way back to their place.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { factsOf } from '../../screens/overview/views_panel';
import { cardFacts, Hue } from '../../screens/patterns/views_behaviour';
import { duration, exact } from '../lib/format';
import { writePin } from '../lib/pins';
import type { Pin } from '../lib/pins';
import * as act from '../state/actions';
import type { App } from '../state/app';
import { goToPin, pinSentence, resolvePin, unpin } from '../state/pins';
import type { Pinned } from '../state/pins';
import { Swatch } from './parts';
import { useApp, usePart } from './use';

const FACTS = 4;

interface Words {
  title: string;
  time: string;
  remark: string;
  facts: readonly { name: string; value: string; more?: string }[];
  mark: JSX.Element;
}

function wordsOf(app: App, pinned: Pinned): Words {
  const { trace, behaviours } = app.model;
  if (pinned.kind === 'item') {
    const { thread, row } = pinned.item;
    const { rows, label } = trace.threads[thread]!;
    const [start, end] = [rows.start[row]!, rows.end[row]!];
    return {
      ...{ title: act.title(app, pinned.item), time: duration(end - start) },
      remark: `${label}, starts ${exact(start)}`,
      ...{ facts: factsOf(app.model, pinned.item), mark: <Swatch fn={rows.fn[row]!} /> },
    };
  }
  const own = behaviours!.list[pinned.cluster]!;
  const at = pinned.chosen?.at;
  return {
    title: own.title,
    time: at ? duration(at.end - at.start) : '',
    remark: at
      ? `${trace.threads[at.thread]!.label}, starts ${exact(at.start)}`
      : 'behaviour, in all threads',
    ...{ facts: cardFacts(app.model, own), mark: <Hue hue={own.hue} /> },
  };
}

function Card({ pin, close }: { pin: Pin; close: () => void }): JSX.Element {
  const app = useApp();
  const pinned = resolvePin(app, pin);
  const go = (): void => {
    goToPin(app, pin);
    setTimeout(() => document.getElementById('chart')?.focus(), 30); // drawn by then
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' && event.key !== 'Delete') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const words = pinned && wordsOf(app, pinned);
  return (
    <li class="pin-card" onKeyDown={keys}>
      <div class="line">
        {words?.mark}
        <button
          class="row-link"
          disabled={!pinned}
          title="Back to where it was pinned"
          aria-label={
            pinned ? `Go to: ${pinSentence(app, pinned)}` : 'Not in this part of the trace'
          }
          onClick={go}
        >
          <b>{words?.title ?? 'not in this part of the trace'}</b>
        </button>
        <b>{words?.time}</b>
        <button
          class="plain"
          aria-label={`Close the card of ${words?.title ?? 'it'}`}
          onClick={close}
        >
          ×
        </button>
      </div>
      {words && (
        <>
          <p class="remark">{words.remark}</p>
          <table>
            <tbody>
              {words.facts.slice(0, FACTS).map(({ name, value, more }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="num" title={more}>
                    {value}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </li>
  );
}

export function Pins(): JSX.Element | null {
  const app = useApp();
  const pins = usePart(s => s.pins);
  const screen = usePart(s => s.screen);
  usePart(s => s.epoch);
  usePart(s => s.colors);
  const list = useRef<HTMLUListElement>(null);
  if (pins.length === 0) return null;
  const close = (i: number): void => {
    unpin(app, pins[i]!);
    setTimeout(() => {
      const next = list.current?.querySelectorAll<HTMLElement>('.row-link')[i];
      (next ?? list.current?.querySelector<HTMLElement>('.row-link') ?? null)?.focus();
      if (!list.current) document.getElementById('chart')?.focus();
    });
  };
  return (
    <ul
      class={screen === 'overview' || screen === 'patterns' ? 'pins over-chart' : 'pins'}
      ref={list}
      id="pins"
      aria-label="Pinned cards"
    >
      {pins.map((pin, i) => (
        <Card key={writePin(pin)} pin={pin} close={() => close(i)} />
      ))}
    </ul>
  );
}
