// SPDX-License-Identifier: MIT
// The search box of the timeline: what it says becomes the set of calls that match, and the threads
// that it names.
import { unlessSuperseded } from '../../shared/api/source';
import { plural } from '../../shared/lib/format';
import { matchesName, matchesThread, parseQuery } from '../../shared/lib/search';
import type { Query } from '../../shared/lib/search';
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { setServed } from '../../shared/state/served';
import type { CallSet } from '../../shared/state/served';
import { setFrom } from './state_details';
import { setAsking, setTimeline, timelineOf } from './state_timeline';

const PAUSE_MS = 180; // of typing
const MOST_CALLS = 50000;
const MOST_FUNCTIONS = 400; // of a question

function matchingThreads(app: App, query: Query): number[] | null {
  if (query.threads.length === 0) return null;
  const { threads } = timelineOf(app).served;
  return threads.filter(one => matchesThread(query, one.tid, one.name)).map(one => one.id);
}

function matchingFunctions(app: App, query: Query): number[] {
  const { names } = timelineOf(app).served;
  return names.name.flatMap((name, id) => (matchesName(query, name) ? [id] : []));
}

/** No call: the set of threads that a query names, when it asks for nothing else. */
function threadSet(threads: number[], title: string): CallSet {
  const n = threads.length;
  const none = new Float64Array(n).fill(-1);
  return {
    ...{ title, functions: [], minNs: 0, maxNs: Infinity, total: n + 1, n },
    ...{ thread: Uint32Array.from(threads), start: none, end: none },
    ...{ depth: new Uint16Array(n), fn: new Uint32Array(n) },
  };
}

async function findSet(app: App, text: string): Promise<CallSet | null> {
  const query = parseQuery(text);
  if (query.isEmpty || query.error) return null;
  const { source } = timelineOf(app).served;
  const threads = matchingThreads(app, query);
  const asksCalls = query.asksFunction || query.min > 0 || query.max < Infinity;
  if (!asksCalls) return threads && threadSet(threads, text);
  const functions = query.asksFunction ? matchingFunctions(app, query) : [];
  const isNone = query.asksFunction && functions.length === 0;
  if (isNone || threads?.length === 0) return { ...threadSet([], text), total: 0 };
  if (functions.length > MOST_FUNCTIONS)
    throw new Error(`${plural(functions.length, 'function')} match: say more of the name`);
  const params = {
    ...{
      fn: functions.length > 0 ? functions : undefined,
      threads: threads ?? undefined,
      min_ns: query.min,
    },
    ...{ max_ns: query.max < Infinity ? query.max : undefined, limit: MOST_CALLS, sort: 'longest' },
  };
  const answer = setFrom(await source.columns('calls', params, 'search'), {
    title: text,
    functions,
  });
  return { ...answer, minNs: query.min, maxNs: query.max };
}

/** Follows the search box while the timeline is shown. */
export function followSearch(app: App): () => void {
  const { served } = timelineOf(app);
  let timer = 0;
  let own: CallSet | null = null;
  let shown = '';
  let turn = 0;
  const search = async (): Promise<void> => {
    const { query } = app.state.get();
    const own_turn = ++turn;
    shown = query;
    served.source.cancel('search'); // this one may ask nothing
    setTimeline(app, { trouble: '' });
    setAsking(app, 'search', true);
    try {
      const set = await findSet(app, query);
      if (app.state.get().query !== query) return; // typed on: another search comes
      if (!set && served.state.get().set !== own) return;
      own = set;
      setServed(served, { set, isSetOnly: set ? served.state.get().isSetOnly : false });
    } finally {
      if (turn === own_turn) setAsking(app, 'search', false);
    }
    act.say(app, searchText(app, query));
  };
  const run = (): void =>
    void unlessSuperseded(search()).catch((error: unknown) =>
      setTimeline(app, { trouble: error instanceof Error ? error.message : String(error) }),
    );
  const off = app.state.subscribe(now => {
    if (now.screen !== 'timeline' || now.query === shown) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(run, PAUSE_MS);
  });
  if (app.state.get().query.trim() !== '') run();
  return () => {
    window.clearTimeout(timer);
    off();
  };
}

/** How many the set has, for the search box. */
export function searchText(app: App, text: string): string {
  const { served, state } = timelineOf(app);
  const { set } = served.state.get();
  const { error } = parseQuery(text);
  if (error || text.trim() === '') return error;
  const { trouble, asking } = state.get();
  if (trouble) return trouble;
  const isAsked = asking.includes('search');
  if (isAsked || !set) return isAsked ? 'searching' : '';
  const threads = new Set(set.thread).size;
  if (set.n > 0 && set.start[0]! < 0) return plural(threads, 'thread');
  const more = set.n < set.total ? `, the ${set.n} longest marked` : '';
  return `${plural(set.total, 'call')}${more || ` in ${plural(threads, 'thread')}`}`;
}
