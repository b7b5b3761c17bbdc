// SPDX-License-Identifier: MIT
// The legend: families by self time, and the marks.
import type { JSX } from 'preact';
import type { Family } from '../../shared/lib/families';
import { duration, plural } from '../../shared/lib/format';
import { GREY_HUE } from '../../shared/lib/palette';
import * as act from '../../shared/state/actions';
import { ColorInput, OwnColors } from '../../shared/views/colors';
import { hueVar } from '../../shared/views/parts';
import { useApp, usePart } from '../../shared/views/use';

const SHOWN = 10;

function Entry({ entry, index }: { entry: Family; index: number }): JSX.Element {
  const app = useApp();
  const family = usePart(s => s.family);
  const n = entry.functions.length;
  const names = entry.functions.map(fn => app.model.fullName(fn)).sort();
  return (
    <li>
      <button
        class="entry"
        aria-pressed={family === index}
        title={names.slice(0, 12).join('\n') + (n > 12 ? `\nand ${n - 12} more` : '')}
        onClick={() => act.toggleFamily(app, index)}
      >
        <span class="swatch" style={{ background: hueVar(entry.hue) }} />
        <span class="grow">{entry.title}</span>
        {n > 1 && <small>{n} fn</small>}
        <span class="num">{duration(entry.self)}</span>
      </button>
    </li>
  );
}

function Rest({ list }: { list: Family[] }): JSX.Element | null {
  if (list.length === 0) return null;
  const n = list.reduce((sum, entry) => sum + entry.functions.length, 0);
  const self = list.reduce((sum, entry) => sum + entry.self, 0);
  return (
    <details>
      <summary>
        <span class="swatch" style={{ background: hueVar(GREY_HUE) }} />
        <span class="grow">other</span>
        <small>{n} fn</small>
        <span class="num">{duration(self)}</span>
      </summary>
      <ul>
        {list.slice(0, 40).map((entry, i) => (
          <Entry key={entry.key} entry={entry} index={SHOWN + i} />
        ))}
      </ul>
      {list.length > 40 && (
        <p class="remark">{plural(list.length - 40, 'more group')}: search finds them.</p>
      )}
    </details>
  );
}

function Marks(): JSX.Element {
  const rows: [JSX.Element, string][] = [
    [
      <rect x="1" y="2" width="34" height="11" fill="var(--h7)" stroke="var(--edge)" />,
      'notable call, exact',
    ],
    [
      <g>
        <rect x="1.5" y="1.5" width="33" height="12" fill="var(--bg)" stroke="var(--ink3)" />
        <rect x="3" y="3" width="16" height="5" fill="var(--h2)" />
        <rect x="20" y="3" width="13" height="5" fill="var(--h9)" />
        <rect x="3" y="8" width="9" height="4" fill="var(--h10)" />
      </g>,
      'expression: a run, folded',
    ],
    [
      <g>
        <rect x="1" y="2" width="34" height="11" fill="var(--h1)" />
        <path d="M3 13L14 2M10 13L21 2M17 13L28 2M24 13L35 2" stroke="#fff" stroke-opacity=".6" />
      </g>,
      'waiting',
    ],
    [
      <g>
        <rect
          x="1.5"
          y="2.5"
          width="33"
          height="10"
          fill="var(--h3)"
          fill-opacity=".35"
          stroke="var(--h3)"
        />
        <path d="M4 6h30M7 9h28" stroke="var(--h3)" stroke-width="1.4" stroke-dasharray="1.4 4" />
      </g>,
      'stood still (inferred)',
    ],
    [<path d="M2 7.5h32M2.5 5v5M33.5 5v5" stroke="var(--ink3)" />, 'no call (gap)'],
    [
      <g>
        <rect x="1.5" y="2.5" width="16" height="10" fill="var(--other)" stroke="var(--line2)" />
        <path d="M24.5 9v5M28.5 9v5M31.5 9v5" stroke="var(--ink3)" />
      </g>,
      'other (n) \u00b7 slivers',
    ],
    [<path d="M14.5 4h7L18 10.2z" fill="var(--bad)" />, 'outlier for its function'],
    [
      <g>
        <rect x="1" y="2" width="34" height="11" fill="var(--h1)" />
        <path d="M1.5 2v11M34.5 2v11" stroke="var(--bg)" stroke-dasharray="3 2" />
      </g>,
      'cut at trace edge',
    ],
    [
      <g>
        <rect x="8" y="0" width="18" height="15" fill="var(--accent)" fill-opacity=".15" />
        <path d="M8.5 0v15M25.5 0v15" stroke="var(--accent)" />
      </g>,
      'selected range',
    ],
  ];
  return (
    <section>
      <h2>Marks</h2>
      <ul class="marks">
        {rows.map(([drawing, word]) => (
          <li key={word}>
            <svg width="36" height="15" aria-hidden="true">
              {drawing}
            </svg>
            {word}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The colour of the highlighted group. */
function FamilyColor(): JSX.Element | null {
  const { families } = useApp().model;
  const now = families.list[usePart(s => s.family)];
  return now ? (
    <p class="remark">
      <ColorInput functions={now.functions} /> colour of {now.title}
    </p>
  ) : null;
}

export function Legend(): JSX.Element {
  const { families } = useApp().model;
  const drawer = usePart(s => s.drawer);
  return (
    <aside class={drawer === 'legend' ? 'legend shown' : 'legend'} aria-label="Legend" tabIndex={0}>
      <h2>
        Colour{' '}
        <small>
          self time
          {families.prefix && (
            <>
              ; prefix <code>{families.prefix}</code> hidden
            </>
          )}
        </small>
      </h2>
      <ul>
        {families.list.slice(0, SHOWN).map((entry, i) => (
          <Entry key={entry.key} entry={entry} index={i} />
        ))}
      </ul>
      <Rest list={families.list.slice(SHOWN)} />
      <FamilyColor />
      <OwnColors />
      <Marks />
    </aside>
  );
}
