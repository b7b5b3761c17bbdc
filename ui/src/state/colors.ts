// SPDX-License-Identifier: MIT
// Colours that a person assigned: kept by function name, shown on every screen.
import { inkOn } from '../lib/color';
import { FIRST_OWN, ownHues, seenOn } from '../lib/colorfile';
import type { OwnColor, OwnColors, OwnHues } from '../lib/colorfile';
import { GREY_HUE } from '../lib/palette';
import { set } from './actions';
import type { App, Model } from './app';

export interface Assigned {
  colors: OwnColors;
  /** The others are grey, as a colour file of NonSequitur has it; else they keep their hues. */
  isRestGrey: boolean;
}

const NONE: Assigned = { colors: new Map(), isRestGrey: false };
const KEY = 'weft.colors';

/** What the palette gave, for when the assignment is taken back. */
interface Automatic {
  functions: Uint8Array;
  families: number[];
  behaviours: number[];
}

const automatic = new WeakMap<Model, Automatic>();
const assigned = new WeakMap<App, Assigned>();

export function assignedOf(app: App): Assigned {
  return assigned.get(app) ?? NONE;
}

export function automaticOf(model: Model): Automatic {
  let own = automatic.get(model);
  if (!own) {
    own = {
      functions: model.families.hue.slice(),
      families: model.families.list.map(({ hue }) => hue),
      behaviours: model.behaviours?.list.map(({ hue }) => hue) ?? [],
    };
    automatic.set(model, own);
  }
  return own;
}

/** Hues of functions, families and behaviours; a family has a colour if all its functions share it. */
function paintModel(model: Model, { hue }: OwnHues, isRestGrey: boolean): void {
  const { families, behaviours, trace } = model;
  const auto = automaticOf(model);
  const of = (fn: number, otherwise: number): number =>
    hue.get(trace.functions.name[fn] ?? '') ?? (isRestGrey ? GREY_HUE : otherwise);
  for (let fn = 0; fn < families.hue.length; fn++) families.hue[fn] = of(fn, auto.functions[fn]!);
  families.list.forEach((family, i) => {
    const own = new Set(family.functions.map(fn => hue.get(trace.functions.name[fn]!)));
    const [one] = own;
    family.hue =
      own.size === 1 && one !== undefined ? one : isRestGrey ? GREY_HUE : auto.families[i]!;
  });
  behaviours?.list.forEach((behaviour, i) => {
    behaviour.hue = of(behaviour.cluster.fn, auto.behaviours[i]!);
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

function writeRules(list: readonly OwnColor[]): void {
  const id = 'own-colors';
  const style = document.getElementById(id) ?? document.createElement('style');
  style.id = id;
  const dark = rules(list, 'dark');
  style.textContent = `:root{${rules(list, 'light')}}:root[data-theme='dark']{${dark}}@media (prefers-color-scheme:dark){:root:not([data-theme='light']){${dark}}}`;
  document.head.append(style);
}

function apply(app: App): void {
  const { colors, isRestGrey } = assignedOf(app);
  const hues = ownHues(colors, app.model.trace.functions.name);
  paintModel(app.model, hues, isRestGrey && colors.size > 0);
  writeRules(hues.list);
  set(app, { colors: app.state.get().colors + 1 });
}

/* ---- storage: a page from a file may have none ---- */

function load(): Assigned {
  try {
    const json = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    const colors = new Map<string, OwnColor>();
    for (const [name, value] of Object.entries((json['of'] as Record<string, unknown>) ?? {})) {
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
  assigned.set(app, next);
  save(next);
  apply(app);
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

/** Puts stored colours on the page, and on every model that it shows. */
export function useStoredColors(app: App): void {
  assigned.set(app, load());
  if (assignedOf(app).colors.size > 0) apply(app);
  app.state.subscribe((now, before) => {
    if (now.epoch !== before.epoch && assignedOf(app).colors.size > 0) apply(app);
  });
}
