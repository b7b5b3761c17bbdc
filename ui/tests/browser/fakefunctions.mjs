// SPDX-License-Identifier: MIT
// What the Functions and Health screens ask of a server, answered from the calls of a made-up trace
// by looking at all of them; the other answers are those of timelineserver.mjs.
import { encodeColumns, startServer } from './timelineserver.mjs';

const WORDS = [
  'evict',
  'reconcile',
  'page',
  'cursor',
  'txn',
  'log',
  'btree',
  'cache',
  'row',
  'hazard',
];
const VERBS = [
  'check',
  'walk',
  'search',
  'insert',
  'read',
  'write',
  'lock',
  'free',
  'build',
  'unpack',
];

/** The calls by thread, as timelineserver.mjs has them. */
function threadsOf(calls, n) {
  return Array.from({ length: n }, (_, id) => {
    const own = calls.filter(call => call.thread === id).map(call => ({ ...call, flags: 0 }));
    const last = Math.max(...own.map(call => call.end));
    return { id, tid: 100 + id, calls: own, first: own[0].start, last };
  });
}

/** Threads with calls in the order of their starts; times are ns. */
export function makeTrace({ threads = 12, functions = 60, rounds = 120, seed = 1 } = {}) {
  let s = seed;
  const next = () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const names = ['cond_wait_signal'];
  for (let i = 1; i < functions; i++)
    names.push(`${WORDS[i % 10]}_${VERBS[Math.floor(i / 10) % 10]}${i >= 100 ? `_${i}` : ''}`);
  const calls = [];
  const put = (thread, depth, start, fn, parent) => {
    const at = calls.length;
    calls.push({ thread, depth, start, end: start, fn, parent, self: 0 });
    let now = start + 20 + Math.floor(next() * 200);
    const children = depth > 7 || fn === 0 ? 0 : Math.floor(next() * 3.2);
    for (let i = 0; i < children; i++) {
      const child =
        next() < 0.05 && depth > 1 ? fn : 1 + ((fn * 7 + i * 13 + depth) % (functions - 1));
      now = put(thread, depth + 1, now, child, at) + 10 + Math.floor(next() * 60);
    }
    const isSlow = next() < 0.004;
    calls[at].end = now + Math.floor(isSlow ? 4e6 * (1 + next()) : 2 ** (next() * 9));
    return calls[at].end;
  };
  for (let thread = 0; thread < threads; thread++) {
    let now = Math.floor(next() * 1e5);
    for (let round = 0; round < rounds; round++) {
      if (next() < 0.2) now = put(thread, 0, now, 0, -1) + Math.floor(2 ** (10 + next() * 10));
      else now = put(thread, 0, now, 1 + Math.floor(next() * 9), -1) + Math.floor(next() * 3000);
    }
  }
  const duration = calls.reduce((end, call) => Math.max(end, call.end), 0) + 1;
  return { name: 'made_up.weft', names, calls, duration, threads: threadsOf(calls, threads) };
}

/** Calls of a part: those that run in it, cut at its borders. */
function partOf(trace, get) {
  const from = get('from') === null ? 0 : Number(get('from'));
  const to = get('to') === null ? trace.duration : Number(get('to'));
  const threads = get('threads')?.split(',').map(Number) ?? null;
  const own = [];
  trace.calls.forEach((call, i) => {
    if (threads && !threads.includes(call.thread)) return;
    if (call.end <= from || call.start >= to) return;
    const start = Math.max(from, call.start);
    own.push({
      ...call,
      i,
      start,
      end: Math.min(to, call.end),
      isWhole: call.start >= from && call.end <= to,
    });
  });
  const self = new Map(own.map(call => [call.i, call.end - call.start]));
  for (const call of own)
    if (call.parent >= 0) self.set(call.parent, self.get(call.parent) - (call.end - call.start));
  for (const call of own) call.self = self.get(call.i);
  return own;
}

const rank = (sorted, share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;

export function functionRows(trace, get) {
  const by = new Map();
  for (const call of partOf(trace, get)) {
    if (!by.has(call.fn)) by.set(call.fn, []);
    by.get(call.fn).push(call);
  }
  const rows = [...by].map(([fn, all]) => {
    const whole = all.filter(call => call.isWhole);
    const times = whole.map(call => call.end - call.start).sort((a, b) => a - b);
    const sum = times.reduce((a, b) => a + b, 0);
    return {
      ...{ fn, id: fn + 1, name: trace.names[fn], module: '', count: all.length },
      ...{ self_ns: all.reduce((a, call) => a + call.self, 0), inclusive_ns: sum },
      ...{
        min_ns: times[0] ?? null,
        mean_ns: times.length ? Math.floor(sum / times.length) : null,
      },
      ...{
        p50_ns: rank(times, 0.5),
        p90_ns: rank(times, 0.9),
        p99_ns: rank(times, 0.99),
        p999_ns: rank(times, 0.999),
      },
      ...{ max_ns: times[times.length - 1] ?? null, open_count: 0, open_ns: 0, cut_count: 0 },
      threads: new Set(all.map(call => call.thread)).size,
    };
  });
  return rows.sort((a, b) => b.self_ns - a.self_ns);
}

/** With a row for each name that nothing calls: a long table from few calls. */
function everyRow(trace, get) {
  const rows = functionRows(trace, get);
  if (trace.names.length < 1000) return rows;
  const seen = new Set(rows.map(row => row.fn));
  const idle = trace.names.map((name, fn) => ({ ...rows[0], fn, name, self_ns: 1, count: 1 }));
  return [...rows, ...idle.filter(({ fn }) => !seen.has(fn))];
}

export function chosenCalls(trace, get) {
  const fns = get('fn')?.split(',').map(Number) ?? null;
  const [min, max] = [Number(get('min_ns') ?? 0), Number(get('max_ns') ?? Infinity)];
  return partOf(trace, get).filter(({ fn, start, end, self, isWhole }) => {
    const ns = get('self') === '1' ? self : end - start;
    return isWhole && (!fns || fns.includes(fn)) && ns >= min && ns <= max;
  });
}

function calls(trace, get) {
  const isSelf = get('self') === '1';
  const length = ({ start, end, self }) => (isSelf ? self : end - start);
  const all = chosenCalls(trace, get).sort((a, b) => length(b) - length(a));
  const own = all.slice(0, Number(get('limit') ?? 1000));
  const total_ns = all.reduce((sum, call) => sum + length(call), 0);
  const columns = [
    ['start_ns', 'f64'],
    ['end_ns', 'f64'],
    ['thread', 'u32'],
    ['depth', 'u16'],
    ['function', 'u32'],
    ['flags', 'u8'],
    ...(isSelf ? [['self_ns', 'f64']] : []),
  ];
  const rows = own.map(({ start, end, self, fn, thread, depth }) => ({
    ...{ start_ns: start, end_ns: end, function: fn, thread, depth, flags: 0, self_ns: self },
  }));
  return encodeColumns({ total: all.length, total_ns }, [{ name: 'calls', rows, columns }]);
}

function histogram(trace, get) {
  const bins = new Map();
  const all = chosenCalls(trace, get);
  let total = 0;
  for (const call of all) {
    const ns = get('self') === '1' ? call.self : call.end - call.start;
    const width = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, ns))) - 4);
    const from = Math.floor(ns / width) * width;
    const bin = bins.get(from) ?? { from_ns: from, to_ns: from + width, count: 0, sum_ns: 0 };
    bins.set(from, { ...bin, count: bin.count + 1, sum_ns: bin.sum_ns + ns });
    total += ns;
  }
  const sorted = [...bins.values()].sort((a, b) => a.from_ns - b.from_ns);
  const times = all.map(call => (get('self') === '1' ? call.self : call.end - call.start));
  const [min_ns, max_ns] = [Math.min(...times), Math.max(...times)];
  return { bins: sorted, count: all.length, sum_ns: total, min_ns, max_ns };
}

function tree(trace, get) {
  const nodes = [{ children: new Map(), fn: -1, sum: 0, self: 0, count: 0 }];
  const at = new Map();
  for (const call of partOf(trace, get)) {
    const above = nodes[at.get(call.parent) ?? 0];
    let node = above.children.get(call.fn);
    if (node === undefined) {
      node = nodes.length;
      nodes.push({ children: new Map(), fn: call.fn, sum: 0, self: 0, count: 0 });
      above.children.set(call.fn, node);
    }
    at.set(call.i, node);
    nodes[node].count++;
    nodes[node].sum += call.end - call.start;
    nodes[node].self += call.self;
  }
  const rows = [];
  const put = (node, parent, depth) => {
    for (const child of [...node.children.values()].sort((a, b) => nodes[b].sum - nodes[a].sum)) {
      const own = rows.length;
      const { fn, count, sum, self } = nodes[child];
      rows.push({ parent, depth, function: fn, count, sum_ns: sum, self_ns: self });
      put(nodes[child], own, depth + 1);
    }
  };
  put(nodes[0], -1, 0);
  const columns = [
    ['parent', 'i32'],
    ['function', 'u32'],
    ['depth', 'u16'],
    ['count', 'f64'],
    ['sum_ns', 'f64'],
    ['self_ns', 'f64'],
  ];
  return encodeColumns({ total: rows.length, folded_self_ns: 0 }, [
    { name: 'nodes', rows, columns },
  ]);
}

const HEAVY = { histogram, calls, tree };

const NOTES = [
  {
    class: 'lost',
    kind: 'lost_records',
    count: 113899,
    threads: 5,
    first_offset: 4096,
    text: 'records that the source itself lost',
    detail: '',
  },
  {
    class: 'repaired',
    kind: 'exit_without_entry',
    count: 26,
    threads: 3,
    first_offset: null,
    text: 'exits without entry: the calls began before the trace',
    detail: '',
  },
  {
    class: 'info',
    kind: 'open_at_end',
    count: 9,
    threads: 9,
    first_offset: null,
    text: 'calls open at the end, closed at the thread\u2019s last event',
    detail: '',
  },
];

export function info(trace, notes = NOTES) {
  const count = kind =>
    notes.filter(note => note.class === kind).reduce((n, note) => n + note.count, 0);
  return {
    ...{ source: 'made up.fdr', format: 'xray-fdr', details: 'version 5', version: 1 },
    ...{ threads: trace.threads.length, functions: trace.names.length, unnamed_functions: 2 },
    ...{
      calls: trace.calls.length,
      cut_calls: 26,
      kernel_events: 0,
      events: 0,
      events_by_kind: {},
    },
    ...{ duration_ns: trace.duration, lost: count('lost'), repaired: count('repaired') },
    ...{ bytes_in: 7.8e6, bytes_out: 7.1e5, bytes_per_call: 1.4, recovered: false, lost_bytes: 0 },
    clock: {
      frequency_hz: 2700000000,
      zero_ticks: 3374302979174,
      monotonic_ns: 1249696086000,
      realtime_ns: null,
    },
    notes,
    thread_list: trace.threads.map((_, i) => ({
      ...{ tid: 100 + i, pid: 100, generation: 0, name: `T${100 + i}`, calls: 1, max_depth: 9 },
      cut_calls: i < 3 ? 20 >> i : 0,
    })),
  };
}

function about(trace) {
  const by = new Map(functionRows(trace, () => null).map(row => [row.fn, row]));
  const own = { id: 0, name: trace.name, format: 'xray-fdr', duration_ns: trace.duration };
  const sizes = { threads: trace.threads.length, calls: trace.calls.length };
  return {
    traces: { version: '0', traces: [{ ...own, ...sizes }] },
    threads: {
      threads: trace.threads.map(({ id, tid, calls: all, first, last }) => ({
        ...{ id, tid, pid: 100, name: `T${tid}`, calls: all.length, cut_calls: 0 },
        ...{ first_ns: first, last_ns: last, max_depth: 12 },
      })),
    },
    names: {
      functions: trace.names.map((name, id) => ({
        ...{ id, name, module: '', is_wait: name.includes('wait') },
        ...{ count: by.get(id)?.count ?? 0, self_ns: by.get(id)?.self_ns ?? 0 },
      })),
    },
    progress: { state: 'ready', activity: '', done: 0, total: 0, unit: '' },
    notes: {},
    colors: { functions: {} },
  };
}

/**
 * Serves; resolves to its address and what it was asked. `wait` says of an answer how many ms it
 * takes, `refuse` that it is refused.
 */
export function serveFake(trace, { notes = NOTES, wait = () => 0, refuse = () => false } = {}) {
  const known = about(trace);
  const answer = (name, get) => {
    if (name === 'functions') return { functions: everyRow(trace, get) };
    if (name === 'info') return info(trace, notes);
    return HEAVY[name]?.(trace, get) ?? known[name] ?? null;
  };
  return startServer(trace, 0, (name, query, send) => {
    if (refuse(name)) {
      send(404, 'application/json', '{"error":{"code":"arg","message":"there is no such answer"}}');
      return true;
    }
    const body = answer(name, key => query.get(key));
    if (!body) return false;
    const reply = () => {
      if (Buffer.isBuffer(body)) send(200, 'application/vnd.weft.columns', body);
      else send(200, 'application/json', JSON.stringify(body));
    };
    if (wait(name) > 0) setTimeout(reply, wait(name));
    else reply();
    return true;
  });
}
