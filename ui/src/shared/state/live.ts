// SPDX-License-Identifier: MIT
// The regimes of a served page: a first picture at once, those of the whole trace when the server has
// them, and those of the window while it rests.
import { messageOf } from '../lib/format';
import { num, text } from '../api/columns';
import type { Columns } from '../api/columns';
import { decodeSketch, decodeRegimes } from '../api/page';
import { decodeShapes } from '../api/shapes';
import { Superseded, unlessSuperseded } from '../api/source';
import type { Source } from '../api/source';
import { Atom } from '../lib/atom';
import { SKETCH_LEVELS } from '../lib/lod';
import type { Span, Trace } from '../lib/model';
import { askParams, NO_ASK, writeAsk } from '../lib/search';
import type { Ask } from '../lib/search';
import { findRow, Model, replaceModel, rowAt } from './app';
import type { App, RowAt, State } from './app';
import { bareTrace } from './served';
import type { Served } from './served';

/** How far the server is with what the page waits for. */
export interface Progress {
  activity: string;
  done: number;
  total: number;
  unit: string;
  /** performance.now() when it was asked for. */
  since: number;
  /** The same when this activity was first seen, and how far it was then. */
  began: number;
  doneThen: number;
}

export interface LiveState {
  ask: Ask;
  /** The regimes of the whole trace stay, whatever the window. */
  isHeld: boolean;
  /** The window whose regimes are asked for. */
  wanted: Span | null;
  /** Of the whole trace's regimes, or of its shapes; null: nothing is waited for. */
  progress: Progress | null;
  shapesProgress: Progress | null;
  /** Why there are no regimes of the whole trace; none, or no first picture, of the window; no shapes. */
  trouble: string;
  partTrouble: string;
  shapesTrouble: string;
}

const REST_MS = 300;
const SKETCH_REST_MS = 80;
const POLL_MS = 200;
const SKETCH_WIDTH = 400; // columns of a first picture
const KEPT = 12; // windows whose regimes are kept
const NEARLY_ALL = 0.9; // a window of this share of the trace shows the regimes of all of it

/** Asks for what a first picture of `window`, or of the whole trace, needs. */
export function askSketch(source: Source, window: Span | null): Promise<Columns> {
  const part = window ? { from: window.t0, to: window.t1 } : {};
  const params = { ...part, width: SKETCH_WIDTH, depths: SKETCH_LEVELS };
  return source.columns('lod', params, 'sketch');
}

const keyOf = (ask: Ask, { t0, t1 }: Span): string => `${writeAsk(ask)} ${t0}-${t1}`;
const holds = (outer: Span, inner: Span): boolean => outer.t0 <= inner.t0 && inner.t1 <= outer.t1;

export class Live {
  readonly state = new Atom<LiveState>({
    ask: NO_ASK,
    isHeld: false,
    wanted: null,
    progress: null,
    shapesProgress: null,
    trouble: '',
    partTrouble: '',
    shapesTrouble: '',
  });
  /** The item that the address names, or that other rows had, until rows are there that have it. */
  private named: RowAt | null = null;
  private isShowing = false;
  private whole: Model | null = null;
  private readonly windows = new Map<string, Model>();
  private readonly bare: Trace;
  private timer = 0;
  /** By what is polled: the poll whose progress is shown. */
  private readonly polls = new Map<string, symbol>();

  /** `early`: the first picture of the whole trace, if it was asked for before the page was made. */
  constructor(
    private readonly app: App,
    private readonly served: Served,
    private early: Promise<Columns> | null = null,
  ) {
    this.bare = bareTrace(served, app.model.trace.generator);
  }

  /** Resolves when there is a first picture; the rest follows. */
  async start(): Promise<void> {
    this.app.state.subscribe((now, before) => this.follow(now, before));
    const whole = this.askWhole();
    await Promise.race([whole, this.guarded(this.sketch())]);
  }

  /** Other thresholds: the regimes are cut anew. */
  change(ask: Ask): void {
    if (writeAsk(ask) === writeAsk(this.state.get().ask)) return;
    this.set({ ask });
    void this.askWhole();
  }

  hold(isHeld: boolean): void {
    this.set({ isHeld });
    this.plan(0);
  }

  /** The item that an address names; selected as soon as there is a row of it. */
  name(at: RowAt | null): void {
    this.named = at;
    this.settle();
  }

  private set(change: Partial<LiveState>): void {
    this.state.update(now => ({ ...now, ...change }));
  }

  private follow(now: State, before: State): void {
    const isOther = now.item !== before.item || now.range !== before.range;
    if (isOther && !this.isShowing) this.named = null;
    if (now.window === before.window && now.screen === before.screen) return;
    const isCommitted = now.crumbs !== before.crumbs || now.screen !== before.screen;
    this.plan(isCommitted ? 0 : REST_MS);
  }

  /** Shows what is known of the window, and asks for its own regimes when it rests. */
  private plan(rest_ms: number): void {
    clearTimeout(this.timer);
    const { window, screen } = this.app.state.get();
    const { isHeld, ask } = this.state.get();
    const isAll = window.t1 - window.t0 >= NEARLY_ALL * this.bare.duration;
    this.served.source.cancel('window');
    this.set({ wanted: null, partTrouble: '' });
    if (isHeld || isAll || screen !== 'overview') {
      this.showWhole();
      return;
    }
    const known = this.windows.get(keyOf(ask, window));
    if (known) return this.show(known);
    const { part } = this.app.model.trace;
    if (part?.kind !== 'window' || !holds(part.span, window)) this.showWhole();
    this.later(() => this.askWindow(window), rest_ms);
  }

  private showWhole(): void {
    if (this.whole) return this.show(this.whole);
    this.later(() => this.sketch(), SKETCH_REST_MS);
  }

  /** Asks when the window has rested; what was to be asked before is not. */
  private later(ask: () => Promise<void>, rest_ms: number): void {
    clearTimeout(this.timer);
    const run = (): void => void this.guarded(ask());
    this.timer = globalThis.setTimeout(run, rest_ms) as unknown as number;
  }

  /** What goes wrong is said on the page. */
  private guarded(work: Promise<void>): Promise<void> {
    return unlessSuperseded(work).catch((error: unknown) =>
      this.set({ partTrouble: messageOf(error) }),
    );
  }

  private show(model: Model): void {
    const { app } = this;
    this.isShowing = true;
    if (app.model !== model) {
      const { item } = app.state.get();
      const at = item && rowAt(app.model, item);
      replaceModel(app, model);
      if (at && !app.state.get().item) this.named = at;
    }
    this.settle();
    this.isShowing = false;
  }

  /** Selects the item that was named, or that rows before these had, if these have it. */
  private settle(): void {
    const { named, app } = this;
    const item = named && findRow(app.model, named);
    if (!item) return;
    this.named = null;
    app.state.update(now => {
      const isItsTime = now.range?.t0 === named.start && now.range.t1 === named.end;
      return { ...now, item, range: isItsTime ? null : now.range };
    });
  }

  private async sketch(): Promise<void> {
    const { window, screen } = this.app.state.get();
    if (screen === 'interplay') return; // it has no rows
    const { t0, t1 } = window;
    const isWhole = t0 === 0 && t1 >= this.bare.duration;
    const early = isWhole ? this.early : null;
    this.early = null;
    await unlessSuperseded(
      (early ?? askSketch(this.served.source, { t0, t1 })).then(answer => {
        if (this.whole) return;
        const byThread = decodeSketch(answer, this.served.names.n);
        const threads = this.bare.threads.map((thread, id) => {
          const rows = byThread.get(id) ?? thread.rows;
          return { ...thread, rows };
        });
        const part = { kind: 'sketch', span: { t0, t1 } } as const;
        this.show(new Model({ ...this.bare, threads, part }, this.served.families));
      }),
    );
  }

  private async askWhole(): Promise<void> {
    const { ask } = this.state.get();
    this.windows.clear();
    this.served.source.cancel('window');
    const stop = this.poll('regtime', progress => this.set({ progress }));
    this.set({ trouble: '' });
    try {
      await unlessSuperseded(
        this.served.source.json('regtime', askParams(ask), 'whole').then(json => {
          const shapes = this.whole?.trace.shapes ?? null;
          const trace = decodeRegimes(json, this.bare, null, null);
          this.whole = new Model({ ...trace, shapes }, this.served.families);
          this.served.source.cancel('sketch');
          this.plan(0);
          if (!shapes) void this.askShapes();
        }),
      );
    } catch (error) {
      this.set({ trouble: messageOf(error) });
    } finally {
      stop();
    }
  }

  private async askWindow(window: Span): Promise<void> {
    const { ask } = this.state.get();
    const { source, families } = this.served;
    this.set({ wanted: window, partTrouble: '' });
    try {
      const params = { ...askParams(ask), from: window.t0, to: window.t1 };
      const json = await source.json('regtime', params, 'window');
      const trace = decodeRegimes(json, this.bare, this.whole?.trace ?? null, window);
      const model = new Model(trace, families);
      this.keep(keyOf(ask, window), model);
      source.cancel('sketch'); // it would show less
      this.set({ wanted: null });
      if (this.app.state.get().window === window) this.show(model);
    } catch (error) {
      if (this.state.get().wanted === window) this.set({ wanted: null });
      throw error;
    }
  }

  private keep(key: string, model: Model): void {
    this.windows.set(key, model);
    const oldest = this.windows.keys().next().value;
    if (this.windows.size > KEPT && oldest !== undefined) this.windows.delete(oldest);
  }

  private async askShapes(): Promise<void> {
    const { source, families } = this.served;
    const stop = this.poll('shapes', shapesProgress => this.set({ shapesProgress }));
    this.set({ shapesTrouble: '' });
    try {
      const json = await source.json('shapes', {}, 'shapes');
      const { trace } = this.whole!;
      const shapes = decodeShapes(json['shapes'], trace.functions.n, trace.threads.length);
      const isShown = this.app.model === this.whole;
      this.whole = new Model({ ...trace, shapes }, families);
      if (isShown) this.show(this.whole);
    } catch (error) {
      if (!(error instanceof Superseded)) this.set({ shapesTrouble: messageOf(error) });
    } finally {
      stop();
    }
  }

  /** Tells `put` again and again how far `of` is; the answer stops it. */
  private poll(of: string, put: (progress: Progress | null) => void): () => void {
    const since = performance.now();
    const own = Symbol(of);
    this.polls.set(of, own);
    let last: Progress = {
      activity: '',
      done: 0,
      total: 0,
      unit: '',
      since,
      began: since,
      doneThen: 0,
    };
    const look = async (): Promise<boolean> => {
      const json = await this.served.source.json('progress', { of }, `progress ${of}`);
      if (this.polls.get(of) !== own) return false;
      const [activity, done] = [text(json, 'activity'), num(json, 'done')];
      const isNew = activity !== last.activity || done < last.done;
      const from = isNew ? { began: performance.now(), doneThen: done } : last;
      const { began, doneThen } = from;
      last = {
        activity,
        done,
        total: num(json, 'total'),
        unit: text(json, 'unit'),
        since,
        began,
        doneThen,
      };
      put(last);
      return true;
    };
    const lookAgain = async (): Promise<void> => {
      while (await look()) await new Promise(resolve => setTimeout(resolve, POLL_MS));
    };
    put(last);
    void lookAgain().catch(() => undefined); // nobody misses a progress line
    return () => {
      if (this.polls.get(of) !== own) return; // a newer one has taken its place
      this.polls.delete(of);
      this.served.source.cancel(`progress ${of}`);
      put(null);
    };
  }
}
