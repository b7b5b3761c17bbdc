// SPDX-License-Identifier: MIT
// What a screen is to the frame around it. A page registers the screens that it has.
import type { JSX } from 'preact';
import type { Own } from '../lib/atom';
import type { Pin, Screen } from '../lib/fragment';
import type { Span } from '../lib/model';
import type { TimeMap } from '../lib/timemap';
import type { App } from './app';

/** What paints a screen, as the frame sees it. */
export interface Picture {
  /** Resolves when all that is asked for is painted. */
  idle(): Promise<void>;
  /** Everything must be painted again. */
  markBase(): void;
  /** The colours of the theme changed. */
  retheme(): void;
}

export type OnReady = (picture: Picture | null) => void;
export type KeyWord = readonly [key: string, word: string];

/** What begins and ends executions, as `--begin` and the like say it; '' is not said. */
export interface Rule {
  type: string;
  begin: string;
  end: string;
  match: string;
  within: string;
}

/** Something to do, by name. */
export interface Command {
  name: string;
  /** As `event.key` names it, after "Ctrl+" and the like: also what is shown. */
  key?: string;
  /** More keys of the same. */
  also?: readonly string[];
  run: (app: App) => void;
  /** Left out: always. */
  isFor?: (app: App) => boolean;
}

/** A line of the menu of an item: below those that every chart has. */
export type MenuLine = Pick<Command, 'name' | 'key' | 'run'>;

interface Fact {
  name: string;
  value: string;
  more?: string;
}

/** A card of something that was selected; it may be pinned. */
export interface Card {
  sentence: string;
  title: string;
  time: string;
  remark: string;
  facts: () => readonly Fact[];
  Mark: () => JSX.Element;
  /** Selects it again. */
  select: () => void;
}

export interface ScreenSpec {
  key: Screen;
  name: string;
  /** Below the crumbs, right of the rail: elements of the page's grid. Calls onReady once, when its
   * first picture can be painted. */
  View: (props: { onReady: OnReady }) => JSX.Element;
  /** Class of the page's grid, besides "page". */
  kind: (app: App) => string;
  /** The status line's keys, and more for the help. */
  keys: readonly KeyWord[];
  help: readonly KeyWord[];
  /** What the status line says of the screen. */
  status: (app: App) => string;
  /** A key that no field and no pane has taken; true: it was for the screen. */
  onKey?: (app: App, event: KeyboardEvent) => boolean;
  /** For the palette and the help. A key given here works while no field has the focus. */
  commands?: (app: App) => readonly Command[];
  /** Its state, which is made with the app. */
  own?: Own<App, unknown>;
  /** Where times are drawn, if that is not the axis of the app. */
  timeMap?: (app: App) => TimeMap | null;
  /** Cards of what is selected (null: nothing), and of what a pin names (null: it is not there). */
  cards?: {
    atHand: (app: App) => Pin['what'] | null;
    read: (app: App, what: Pin['what']) => Card | null;
  };
  /** What the search box does here: how many there are of `query`, and the next of them. `isApart`:
   * it looks for something else than calls, of which the set is made. */
  search?: {
    isApart?: true;
    text: (app: App, query: string) => string;
    step: (app: App, direction: 1 | -1) => void;
  };
  /** The time of what is selected. */
  focus?: (app: App) => Span | null;
  /** Esc: gives up the topmost of its own; false: there was nothing. */
  clear?: (app: App) => boolean;
  /** Explains a time of a thread: what it hung on. */
  explain?: (app: App, thread: number, span: Span, label: string) => void;
  /** Shows what it has of a lock. */
  showLock?: (app: App, lock: string) => void;
  /** Shows what a thread waited for, in the range; of a lock that is named so, if it is not ''. */
  showWaits?: (app: App, thread: number, lock: string) => void;
  /** Shows the slow executions of a rule beside the usual ones. */
  showRule?: (app: App, rule: Rule) => void;
  /** At the right of the crumbs: how it is drawn. */
  Settings: () => JSX.Element;
  /** In the top bar of every screen. */
  Badge?: () => JSX.Element;
  /** What it adds to the address, and how it takes it back (every key may be ''). */
  write?: (app: App) => [key: string, value: string][];
  read?: (app: App, get: (key: string) => string) => void;
  /** Calls `changed` when `write` would say something else than before for a reason that is not in
   * App.state; returns how to end that. */
  watch?: (app: App, changed: () => void) => () => void;
  /** Keys of `write` whose change is a step that the browser's "back" takes back. */
  steps?: readonly string[];
}

export function currentScreen(app: App): ScreenSpec {
  const { screen } = app.state.get();
  return app.screens.find(({ key }) => key === screen) ?? app.screens[0]!;
}

/** Time to place on the screen at hand. */
export function timeMap(app: App): TimeMap {
  return currentScreen(app).timeMap?.(app) ?? app.model.map(app.state.get().isRegime);
}
