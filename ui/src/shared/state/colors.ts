// SPDX-License-Identifier: MIT
// Colours that a person assigned: kept by function name, shown on every screen.
import { inkOn, FIRST_OWN, ownHues, seenOn, GREY_HUE } from '../lib/color';
import type { OwnColor, OwnColors } from '../lib/color';
import type { Families } from '../lib/names';
import { set } from './actions';
import type { App, Model } from './app';

export interface Assigned {
  colors: OwnColors;
  /** The others are grey, as a colour file of NonSequitur has it; else they keep their hues. */
  isRestGrey: boolean;
}

const NONE: Assigned = { colors: new Map(), isRestGrey: false };
const KEY = 'weft.colors';

export const assignedOf = (app: App): Assigned => app.state.get().colors;

/** Hue of a function with that name; `otherwise` if it has none of its own. */
type HueOf = (name: string | undefined, otherwise: number) => number;

/** Hues of functions and families; a family has a colour if all its functions share it. */
function paintFamilies(families: Families, names: readonly string[], of: HueOf): void {
  for (let fn = 0; fn < families.hue.length; fn++)
    families.hue[fn] = of(names[fn], families.palette[fn]!);
  families.list.forEach(family => {
    const [one, ...more] = new Set(family.functions.map(fn => of(names[fn], -1)));
    const isShared = more.length === 0 && one !== undefined && one >= 0;
    family.hue = isShared ? one : of(undefined, family.palette);
  });
}

function paintBehaviours(model: Model, of: HueOf): void {
  model.behaviours?.list.forEach(behaviour => {
    behaviour.hue = of(model.trace.functions.name[behaviour.cluster.fn], behaviour.palette);
  });
}

function rules(list: readonly OwnColor[], theme: 'light' | 'dark'): string {
  return list
    .map((own, i) => {
      const fill = seenOn(own, theme);
      const hue = FIRST_OWN + i + 1;
      return `--h${hue}:${fill};--on-h${hue}:${inkOn(fill)};`;
    })
    .join('');
}

/** A sheet made by script: a policy that forbids inline styles allows it. */
const sheet = typeof CSSStyleSheet === 'undefined' ? null : new CSSStyleSheet();

function writeRules(list: readonly OwnColor[]): void {
  const dark = rules(list, 'dark');
  sheet?.replaceSync(
    `:root{${rules(list, 'light')}}:root[data-theme='dark']{${dark}}@media (prefers-color-scheme:dark){:root:not([data-theme='light']){${dark}}}`,
  );
  if (sheet && !document.adoptedStyleSheets.includes(sheet))
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Puts colours on what is shown, which draws again. */
function apply(app: App, own: Assigned): void {
  const { colors, isRestGrey } = own;
  const { model, served } = app;
  const names = served?.names.name ?? model.trace.functions.name;
  const { hue, list } = ownHues(colors, names);
  const isGrey = isRestGrey && colors.size > 0;
  const of: HueOf = (name, otherwise) => hue.get(name ?? '') ?? (isGrey ? GREY_HUE : otherwise);
  paintFamilies(model.families, model.trace.functions.name, of);
  if (served) paintFamilies(served.families, served.names.name, of);
  paintBehaviours(model, of);
  writeRules(list);
  set(app, { colors: { ...own } });
}

/* ---- storage: a page from a file may have none ---- */

function load(): Assigned {
  try {
    const json = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    const colors = new Map<string, OwnColor>();
    for (const [name, value] of Object.entries((json['of'] ?? {}) as Record<string, unknown>)) {
      const [hex, alpha] = value as [string, number];
      if (/^#[0-9a-f]{6}$/.test(hex) && alpha >= 0 && alpha <= 1) colors.set(name, { hex, alpha });
    }
    return { colors, isRestGrey: json['rest'] === 'grey' };
  } catch {
    return NONE;
  }
}

function save({ colors, isRestGrey }: Assigned): void {
  try {
    const of = Object.fromEntries([...colors].map(([name, c]) => [name, [c.hex, c.alpha]]));
    if (colors.size === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify({ rest: isRestGrey ? 'grey' : 'own', of }));
  } catch {
    // it lasts as long as the page
  }
}

/* ---- what a person can do ---- */

export function assign(app: App, next: Assigned): void {
  save(next);
  apply(app, next);
}

export function assignOne(app: App, names: readonly string[], hex: string): void {
  const now = assignedOf(app);
  const colors = new Map(now.colors);
  for (const name of names) colors.set(name, { hex, alpha: 1 });
  assign(app, { ...now, colors });
}

export function forget(app: App, name: string): void {
  const now = assignedOf(app);
  const colors = new Map(now.colors);
  colors.delete(name);
  assign(app, { ...now, colors });
}

export function forgetAll(app: App): void {
  assign(app, NONE);
}

/** Colours that the page came with: for who has none of his own. */
export function offerColors(app: App, colors: OwnColors): void {
  if (colors.size === 0 || assignedOf(app).colors.size > 0) return;
  apply(app, { colors, isRestGrey: true });
}

/** Puts stored colours on the page, and on every model that it shows. */
export function useStoredColors(app: App): void {
  const stored = load();
  if (stored.colors.size > 0) apply(app, stored);
  app.state.subscribe((now, before) => {
    if (now.epoch !== before.epoch && assignedOf(app).colors.size > 0) apply(app, assignedOf(app));
  });
}
