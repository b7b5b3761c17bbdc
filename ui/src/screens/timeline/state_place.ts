// SPDX-License-Identifier: MIT
// What the timeline adds to the address: pinned threads, the selected call, order, levels.
import type { App } from '../../shared/state/app';
import { setServed } from '../../shared/state/served';
import type { CallAt } from '../../shared/state/served';
import { TRACK_SORTS } from './lib_tracks';
import type { TrackMode } from './lib_tracks';
import { callFrom } from './state_details';
import { isSameCall, setTimeline, timelineOf } from './state_timeline';

function atText(app: App, call: CallAt | null): string {
  if (!call) return '';
  const { tid } = timelineOf(app).served.threads[call.thread]!;
  return `t${tid}.${call.depth}.${Math.round(call.start)}`;
}

export function writePlace(app: App): [string, string][] {
  const { served, state } = timelineOf(app);
  const { pins, sort, mode, modes, closed, hasPath } = state.get();
  const { call, isSetOnly } = served.state.get();
  const tidOf = (id: number): number => served.threads[id]!.tid;
  const own = [...modes].map(([id, one]) => `t${tidOf(id)}.${one}`);
  return [
    ['pin', pins.map(id => `t${tidOf(id)}`).join(',')],
    ['at', call ? atText(app, call) : timelineOf(app).placeAsked],
    ['tracks', sort === 'first' ? '' : sort],
    ['levels', [mode === 'few' ? '' : mode, ...own].filter(Boolean).join(',')],
    ['shut', [...closed].join(',')],
    ['setonly', isSetOnly ? '1' : ''],
    ['onpath', hasPath ? '' : '0'],
  ];
}

const MODES = new Set<string>(['few', 'all', 'compact']);

function readLevels(text: string, byTid: Map<number, number>): [TrackMode, Map<number, TrackMode>] {
  const modes = new Map<number, TrackMode>();
  let all: TrackMode = 'few';
  for (const part of text.split(',')) {
    const own = /^t(\d+)\.(\w+)$/.exec(part);
    const id = own && byTid.get(Number(own[1]));
    if (MODES.has(part)) all = part as TrackMode;
    if (own && MODES.has(own[2]!) && id !== null && id !== undefined)
      modes.set(id, own[2] as TrackMode);
  }
  return [all, modes];
}

/** Selects the call that an address names, once the server has said what it is. */
function readCall(app: App, text: string, byTid: Map<number, number>): void {
  const own = timelineOf(app);
  const { served } = own;
  served.source.cancel('place'); // what the address before named
  own.placeAsked = '';
  if (text === atText(app, served.state.get().call)) return;
  const match = /^t(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const thread = match && byTid.get(Number(match[1]));
  if (thread === null || thread === undefined) return setServed(served, { call: null });
  const params = { thread, depth: Number(match![2]), at: Number(match![3]) };
  const before = served.state.get().call;
  own.placeAsked = text;
  served.source
    .json('item', params, 'place')
    .then(json => {
      own.placeAsked = '';
      if (isSameCall(served.state.get().call, before))
        setServed(served, { call: callFrom(json, thread) });
    })
    .catch(() => undefined); // a call that is not there is not selected
}

export function readPlace(app: App, get: (key: string) => string): void {
  const { served } = timelineOf(app);
  const byTid = new Map(served.threads.map(thread => [thread.tid, thread.id]));
  const pins = get('pin')
    .split(',')
    .flatMap(text => (/^t\d+$/.test(text) ? (byTid.get(Number(text.slice(1))) ?? []) : []));
  const [mode, modes] = readLevels(get('levels'), byTid);
  const closed = get('shut').split(',').filter(Boolean).map(Number);
  setTimeline(app, {
    ...{ pins, mode, modes, closed: new Set(closed) },
    sort: TRACK_SORTS.find(([key]) => key === get('tracks'))?.[0] ?? 'first',
    hasPath: get('onpath') !== '0',
  });
  setServed(served, { isSetOnly: get('setonly') === '1' });
  readCall(app, get('at'), byTid);
}
