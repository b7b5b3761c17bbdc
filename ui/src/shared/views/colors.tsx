// SPDX-License-Identifier: MIT
// Colours of a person's own: from a file, one by one, and what is to be said of them.
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { toHex, checkColors, parseColors, writeColors, GREY_HUE, HUES } from '../lib/color';
import { plural } from '../lib/format';
import type { App, Model } from '../state/app';
import { assign, assignedOf, assignOne, forget, forgetAll } from '../state/colors';
import { hueVar } from './parts';
import { useApp, usePart } from './use';

const SHOWN = 12;
const MOST_BYTES = 4e6;

/** What the browser knows a colour's name as. */
function nameToHex(name: string): string | null {
  const ctx = document.createElement('canvas').getContext('2d')!;
  if (!CSS.supports('color', name)) return null;
  ctx.fillStyle = name;
  ctx.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = ctx.getImageData(0, 0, 1, 1).data;
  return a === 255 ? toHex([r!, g!, b!]) : null;
}

/** Most prominent first, as the families are. */
function prominent({ families, trace }: Model): string[] {
  return families.list.flatMap(({ functions }) => functions.map(fn => trace.functions.name[fn]!));
}

/** Hues of the palette that others keep on the screen at hand. */
function stillUsed(app: App): Map<number, string> {
  const { model, state } = app;
  const { colors, isRestGrey } = assignedOf(app);
  const used = new Map<number, string>();
  if (isRestGrey) return used;
  const own = (fn: number): boolean => colors.has(model.fullName(fn));
  if (state.get().screen === 'patterns')
    model.behaviours?.list.forEach(({ cluster, title, palette: hue }) => {
      if (hue !== GREY_HUE && !used.has(hue) && !own(cluster.fn)) used.set(hue, title);
    });
  else
    model.families.list.forEach(({ functions, title, palette: hue }) => {
      if (hue !== GREY_HUE && !used.has(hue) && !functions.every(own)) used.set(hue, title);
    });
  return used;
}

function offerFile(app: App): void {
  const url = URL.createObjectURL(
    new Blob([writeColors(assignedOf(app).colors)], { type: 'text/plain' }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = 'colors.txt';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function Picker({ onProblems }: { onProblems: (problems: string[]) => void }): JSX.Element {
  const app = useApp();
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    if (file.size > MOST_BYTES) {
      onProblems([`${file.name} is too large for a colour file`]);
      return;
    }
    const { colors, problems } = parseColors(await file.text(), nameToHex);
    onProblems(colors.size === 0 ? [`${file.name} names no colour`, ...problems] : problems);
    if (colors.size > 0) assign(app, { colors, isRestGrey: true });
  };
  return (
    <>
      <button
        title="Lines of “function colour alpha”, as NonSequitur reads them"
        onClick={() => input.current?.click()}
      >
        Colour file…
      </button>
      <input
        ref={input}
        class="sr"
        type="file"
        tabIndex={-1}
        aria-label="Colour file"
        onChange={event => {
          void read(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

function List(): JSX.Element {
  const app = useApp();
  const { functions } = app.model.trace;
  const { colors, isRestGrey } = assignedOf(app);
  const known = functions.name.flatMap((name, fn) => (colors.has(name) ? [fn] : []));
  return (
    <>
      <ul class="own-colors">
        {known.slice(0, SHOWN).map(fn => (
          <li key={fn}>
            <span class="swatch" style={{ background: hueVar(app.model.families.hue[fn]!) }} />
            <span class="grow" title={app.model.fullName(fn)}>
              {app.model.name(fn)}
            </span>
            <button
              class="link"
              aria-label={`Forget the colour of ${app.model.fullName(fn)}`}
              onClick={() => forget(app, app.model.fullName(fn))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {known.length > SHOWN && <p class="remark">and {known.length - SHOWN} more.</p>}
      <div class="tools">
        <button
          aria-pressed={isRestGrey}
          onClick={() => assign(app, { colors, isRestGrey: !isRestGrey })}
        >
          Others grey
        </button>
        <button onClick={() => offerFile(app)}>Save</button>
        <button onClick={() => forgetAll(app)}>Reset</button>
      </div>
    </>
  );
}

/** The legend's part: every screen shows the same colours. */
export function OwnColors(): JSX.Element {
  const app = useApp();
  const epoch = usePart(s => s.colors);
  const screen = usePart(s => s.screen);
  const [problems, setProblems] = useState<string[]>([]);
  const { colors } = assignedOf(app);
  const warnings = useMemo(
    () => (colors.size > 0 ? checkColors(colors, prominent(app.model), stillUsed(app)) : []),
    [epoch, screen],
  );
  return (
    <section class="colors">
      <h2>
        Custom colours{' '}
        <small>{colors.size > 0 ? plural(colors.size, 'function') : 'kept in this browser'}</small>
      </h2>
      {colors.size > 0 && <List />}
      <div class="tools">
        <Picker onProblems={setProblems} />
      </div>
      <ul class="warnings" role="status">
        {[...problems.map(problem => `${problem}.`), ...warnings].map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

/** Gives one colour to functions. */
export function ColorInput({ functions }: { functions: readonly number[] }): JSX.Element | null {
  const app = useApp();
  usePart(s => s.colors);
  const names = functions.filter(fn => fn >= 0).map(fn => app.model.fullName(fn));
  if (names.length === 0) return null;
  const own = assignedOf(app).colors.get(names[0]!);
  const hue = app.model.families.hue[functions[0]!]!;
  const what = names.length === 1 ? names[0]! : plural(names.length, 'function');
  return (
    <label class="color-input" title={`Give ${what} a colour`}>
      <input
        type="color"
        aria-label={`Colour of ${what}`}
        value={own?.hex ?? HUES.light[hue] ?? '#aab2bd'}
        onChange={event => assignOne(app, names, event.currentTarget.value)}
      />
    </label>
  );
}
