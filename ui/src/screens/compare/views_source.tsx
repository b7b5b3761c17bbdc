// SPDX-License-Identifier: MIT
// Which executions are compared: those of a database, or what rules find in the trace.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { plural } from '../../shared/lib/format';
import { Command } from '../../shared/views/parts';

import type { Subject } from './state_compare';
import { useCompare, useCompareState } from './views_use';
import { quoted } from '../../shared/lib/notes';

const NONE: Subject = { db: -1, type: '', begin: '', end: '', match: '', within: '' };
const FIELDS = [
  ['type', 'Name', 'request'],
  ['begin', 'Begins with', 'call:handle_request'],
  ['end', 'Ends with', 'left out: the whole call'],
  ['match', 'Same', 'id, left out: none'],
  ['within', 'Within', 'thread, process, trace'],
] as const;

function RuleForm(): JSX.Element {
  const compare = useCompare();
  const subject = useCompareState(s => s.subject);
  const [rule, setRule] = useState<Subject>(subject?.db === -1 ? subject : NONE);
  return (
    <form
      class="cmp-rules"
      onSubmit={event => {
        event.preventDefault();
        compare.choose(rule);
      }}
    >
      {FIELDS.map(([key, word, example]) => (
        <label key={key}>
          {word}
          <input
            value={rule[key]}
            placeholder={example}
            onInput={event => setRule({ ...rule, [key]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" disabled={rule.begin.trim() === ''}>
        Find executions
      </button>
    </form>
  );
}

/** What there is to compare: a click takes it. */
export function SubjectList(): JSX.Element {
  const compare = useCompare();
  const databases = useCompareState(s => s.databases);
  const proposals = useCompareState(s => s.proposals);
  const isLooking = useCompareState(s => s.isLooking);
  const { hasTrace, trace } = compare.served;
  return (
    <div class="cmp-subjects">
      {(databases ?? []).map(({ id, name, types, error }) => (
        <section key={id} aria-label={`Database ${name}`}>
          <h2>
            {name} <small>database</small>
          </h2>
          {error !== '' && (
            <p class="cmp-trouble" role="alert">
              {error}.
            </p>
          )}
          <ul>
            {types.map(type => (
              <li key={type.name}>
                <button
                  class="row-link"
                  onClick={() => compare.choose({ ...NONE, db: id, type: type.name })}
                >
                  <b>{type.name}</b> <small>{plural(type.count, 'execution')}</small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {hasTrace && (
        <section aria-label="Executions of the trace">
          <h2>
            What {trace.name} does again and again{' '}
            <small>proposed from its marks, probes, spans and calls</small>
          </h2>
          <ul>
            {proposals.slice(0, 12).map((one, i) => (
              <li key={i}>
                <button
                  class="row-link"
                  onClick={() =>
                    compare.choose({
                      ...{ db: -1, type: one.name, begin: one.begin, end: one.end },
                      ...{ match: one.match, within: one.within },
                    })
                  }
                >
                  <b>{one.name}</b>{' '}
                  <small>
                    {plural(one.count, 'begin')}; {one.why}
                  </small>
                </button>
              </li>
            ))}
          </ul>
          {proposals.length === 0 && isLooking && <p class="remark">looking{'\u2026'}</p>}
          {proposals.length === 0 && !isLooking && (
            <p class="remark">
              Nothing repeats that could be proposed: say what begins and ends an execution.
            </p>
          )}
          <h2>By rules of your own</h2>
          <RuleForm />
          <p class="remark">
            Into a database, to compare builds and runs:{' '}
            <Command
              text={`weft executions ${quoted(trace.name)} --begin RULE --db runs.db --tag base`}
            />
          </p>
        </section>
      )}
    </div>
  );
}
