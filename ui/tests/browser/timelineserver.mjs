// SPDX-License-Identifier: MIT
// A stand-in for `weft serve` (docs/http-api.md) over a made-up trace: every question is answered
// by looking at every call; and the page of dist/ before a real one.
// usage: node timelineserver.mjs [THREADS [PORT]]
import { spawn } from 'node:child_process';
import { createServer, get } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const NAMES = [
  ...['__kv_main', '__kv_put', '__kv_get', '__kv_flush', '__kv_compact', '__log_append'],
  ...['__log_sync', '__page_read', '__page_evict', '__page_pin', '__lock_acquire', '__cond_wait'],
  ...['__hash_lookup', '__hash_grow', '__mem_alloc', '__mem_free', '__crc_update', '__codec_pack'],
];
const WAITS = new Set([10, 11]);
const WAIT = 11;
const CUT_START = 1;
const CUT_END = 2;

function random(seed) {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((s ^ (s >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** A call and what it calls, until `end` at most; returns when it ended. */
function addCall(calls, rand, depth, start, end, fn) {
  const at = calls.length;
  calls.push({ start, end, depth, fn, flags: 0, self: 0 });
  let t = start + Math.floor(rand() * 200) + 20;
  let below = 0;
  const isLeaf = depth >= 6 || WAITS.has(fn) || rand() < 0.15;
  while (!isLeaf && t < end - 200) {
    const room = end - t;
    const length = Math.min(room - 50, Math.max(60, Math.floor(room * rand() ** 3 * 0.6)));
    if (length < 60 || calls.length - at > 400) break;
    const child = (fn * 7 + 1 + Math.floor(rand() * 4)) % NAMES.length;
    addCall(calls, rand, depth + 1, t, t + length, child);
    below += length;
    t += length + Math.floor(rand() * room * 0.04) + 10;
  }
  calls[at].self = end - start - below;
}

function makeThread(id, rand, duration) {
  const calls = [];
  let t = Math.floor(rand() * duration * 0.05);
  const first = t;
  while (t < duration * 0.97 && calls.length < 6000) {
    const length = Math.floor(duration * (rand() ** 4 * 0.08 + 0.0002));
    const fn = rand() < 0.2 ? WAIT : Math.floor(rand() * 6);
    addCall(calls, rand, 0, t, Math.min(duration - 1, t + length), fn);
    t += length + Math.floor(rand() * length * 0.3);
  }
  addCall(calls, rand, 0, Math.min(t, duration - 2000), duration, 0);
  calls[calls.length - 1].flags |= CUT_END;
  if (id === 0) calls[0].flags |= CUT_START;
  const depths = calls.map(call => call.depth);
  return {
    ...{ id, tid: 4000 + id * 3, pid: 3999 + (id % 3), name: id % 4 === 0 ? `worker-${id}` : '' },
    ...{ calls, first, last: duration, cut: id === 0 ? 1 : 0 },
    maxDepth: Math.max(...depths),
  };
}

export function makeTrace(nThreads = 40, seed = 7, duration = 40e6) {
  const rand = random(seed);
  const threads = Array.from({ length: nThreads }, (_, id) => makeThread(id, rand, duration));
  return { name: 'made-up.weft', duration, threads };
}

/* ---- columns ---- */

const TYPES = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 };
const WRITE = {
  u8: (b, v, at) => b.writeUInt8(v, at),
  u16: (b, v, at) => b.writeUInt16LE(v, at),
  u32: (b, v, at) => b.writeUInt32LE(Math.min(v, 0xffffffff), at),
  i32: (b, v, at) => b.writeInt32LE(v, at),
  f64: (b, v, at) => b.writeDoubleLE(v, at),
};

function column(values, type) {
  const bytes = Buffer.alloc(Math.ceil((values.length * TYPES[type]) / 8) * 8);
  values.forEach((value, i) => WRITE[type](bytes, value, i * TYPES[type]));
  return bytes;
}

export function encodeColumns(meta, tables) {
  const heads = tables.map(({ name, rows, columns }) => ({
    ...{ name, rows: rows.length },
    columns: columns.map(([field, type]) => ({ name: field, type })),
  }));
  let head = JSON.stringify({ ...meta, tables: heads });
  while ((Buffer.byteLength(head) + 8) % 8 !== 0) head += ' ';
  const start = Buffer.alloc(8);
  start.writeUInt32LE(0x43544657, 0);
  start.writeUInt32LE(Buffer.byteLength(head), 4);
  const data = tables.flatMap(({ rows, columns }) =>
    columns.map(([field, type]) =>
      column(
        rows.map(row => row[field]),
        type,
      ),
    ),
  );
  return Buffer.concat([start, Buffer.from(head), ...data]);
}

const ITEM_COLUMNS = [
  ...[
    ['start_ns', 'f64'],
    ['end_ns', 'f64'],
    ['count', 'u32'],
    ['covered_ns', 'f64'],
  ],
  ...[
    ['longest_ns', 'f64'],
    ['depth', 'u16'],
    ['function', 'u32'],
    ['longest_function', 'u32'],
  ],
  ['is_cluster', 'u8'],
];
const CALL_COLUMNS = [
  ...[
    ['start_ns', 'f64'],
    ['end_ns', 'f64'],
    ['thread', 'u32'],
    ['depth', 'u16'],
  ],
  ...[
    ['function', 'u32'],
    ['flags', 'u8'],
  ],
];

/* ---- answers ---- */

const inPart = (call, { from, to }) => call.end > from && call.start < to;

function lodItems(thread, { from, to, width }) {
  const pixel = Math.floor((to - from) / width);
  const clusters = new Map();
  const items = [];
  for (const call of thread.calls.filter(one => inPart(one, { from, to }))) {
    const length = call.end - call.start;
    const common = { depth: call.depth, covered_ns: length, longest_ns: length, count: 1 };
    const item = { ...common, start_ns: call.start, end_ns: call.end, is_cluster: 0 };
    item.function = item.longest_function = call.fn;
    if (length > pixel) {
      items.push(item);
      continue;
    }
    const place = Math.max(0, Math.floor(((call.start - from) * width) / (to - from)));
    const key = call.depth * 65536 + place;
    const own = clusters.get(key);
    if (!own) clusters.set(key, { ...item, is_cluster: 1 });
    else {
      own.end_ns = Math.max(own.end_ns, call.end);
      own.count++;
      own.covered_ns += length;
      if (length > own.longest_ns) [own.longest_ns, own.longest_function] = [length, call.fn];
    }
  }
  items.push(...clusters.values());
  return items.sort((a, b) => a.depth - b.depth || a.start_ns - b.start_ns);
}

function lod(part) {
  const items = [];
  const heads = part.threads.map(thread => {
    const own = lodItems(thread, part);
    const first = items.length;
    for (const item of own) items.push(item);
    return { id: thread.id, first_item: first, n_items: own.length };
  });
  const columns = [
    ['id', 'u32'],
    ['first_item', 'u32'],
    ['n_items', 'u32'],
  ];
  return encodeColumns({ pixel_ns: Math.floor((part.to - part.from) / part.width) }, [
    { name: 'threads', rows: heads, columns },
    { name: 'items', rows: items, columns: ITEM_COLUMNS },
  ]);
}

/** The answer to `lod` for some threads. */
export function encodeLod(trace, part) {
  return lod({ ...part, threads: part.threads.map(id => trace.threads[id]) });
}

function matching({ threads, from, to, fn, min, max }) {
  return threads.flatMap(thread =>
    thread.calls
      .filter(
        call =>
          inPart(call, { from, to }) &&
          (!fn || fn.includes(call.fn)) &&
          call.end - call.start >= min &&
          call.end - call.start <= max,
      )
      .map(call => ({ ...call, thread: thread.id, start_ns: call.start, end_ns: call.end })),
  );
}

function calls(part) {
  const all = matching(part).map(call => ({ ...call, function: call.fn }));
  const length = call => call.end - call.start;
  if (part.sort === 'time') all.sort((a, b) => a.start - b.start);
  else all.sort((a, b) => length(b) - length(a) || a.start - b.start);
  const total_ns = all.reduce((sum, call) => sum + length(call), 0);
  const rows = all.slice(0, part.limit);
  const table = { name: 'calls', rows, columns: CALL_COLUMNS };
  return encodeColumns({ total: all.length, total_ns }, [table]);
}

function histogram(part) {
  const all = matching(part);
  const bins = new Map();
  for (const call of all) {
    const ns = call.end - call.start;
    const octave = Math.floor(Math.log2(Math.max(1, ns)));
    const step = 2 ** octave / 16;
    const bin = Math.floor((ns - 2 ** octave) / step);
    const from_ns = Math.ceil(2 ** octave + bin * step);
    const key = octave * 16 + bin;
    const own = bins.get(key) ?? { from_ns, to_ns: 0, count: 0, sum_ns: 0 };
    own.to_ns = Math.ceil(2 ** octave + (bin + 1) * step);
    own.count++;
    own.sum_ns += ns;
    bins.set(key, own);
  }
  const sum_ns = all.reduce((sum, call) => sum + call.end - call.start, 0);
  const list = [...bins.values()].sort((a, b) => a.from_ns - b.from_ns);
  const max_ns = all.reduce((most, call) => Math.max(most, call.end - call.start), 0);
  return { bins: list, count: all.length, sum_ns, max_ns };
}

const flagNames = flags => [
  ...(flags & CUT_START ? ['cut_start'] : []),
  ...(flags & CUT_END ? ['cut_end'] : []),
];

const callJson = ({ start, end, fn, depth, flags, self }) => ({
  ...{ start_ns: start, end_ns: end, function: fn, depth, self_ns: self },
  flags: flagNames(flags),
});

function found(thread, call) {
  if (!call) return { found: false };
  const inside = thread.calls.filter(
    one => one.depth > call.depth && one.start >= call.start && one.end <= call.end,
  );
  const around = thread.calls.filter(
    one => one.depth < call.depth && one.start <= call.start && one.end >= call.end,
  );
  const children = new Map();
  for (const one of inside.filter(({ depth }) => depth === call.depth + 1)) {
    const own = children.get(one.fn) ?? { function: one.fn, count: 0, sum_ns: 0, self_ns: 0 };
    own.count++;
    own.sum_ns += one.end - one.start;
    own.self_ns += one.self;
    children.set(one.fn, own);
  }
  return {
    ...{ found: true, ...callJson(call), arguments: {} },
    ancestors: around.sort((a, b) => a.depth - b.depth).map(callJson),
    children: [...children.values()].sort((a, b) => b.sum_ns - a.sum_ns),
  };
}

function item({ threads: [thread], at, depth }) {
  const isIt = call => call.depth === depth && call.start <= at && call.end > at;
  return found(thread, thread.calls.find(isIt));
}

function step({ threads: [thread], at, depth, fn, min, direction }) {
  const isIt = call =>
    (fn ? fn.includes(call.fn) : call.depth === depth) && call.end - call.start >= min;
  const own = thread.calls.filter(isIt).sort((a, b) => a.start - b.start);
  const next = own.find(call => call.start > at);
  const before = own.reverse().find(call => call.start < at);
  return found(thread, direction === 'previous' ? before : next);
}

function outliers({ threads }) {
  const all = threads.flatMap(thread => thread.calls.map(call => ({ thread, call })));
  all.sort((a, b) => b.call.end - b.call.start - (a.call.end - a.call.start));
  const rows = all.slice(0, 50).map(({ thread, call }) => ({
    ...{
      tid: thread.tid,
      thread_id: thread.id,
      fn: call.fn,
      kind: 'call',
      ...callJson(call),
      depth: call.depth,
    },
    ...{ duration_ns: call.end - call.start, function_id: call.fn, function: NAMES[call.fn] },
  }));
  return { found: rows.length, outliers: rows };
}

function interval({ threads, from, to }) {
  return {
    ...{ from_ns: from, to_ns: to },
    threads: threads.map(thread => {
      const own = thread.calls.filter(call => call.depth === 0 && inPart(call, { from, to }));
      const part = call => Math.min(to, call.end) - Math.max(from, call.start);
      const called_ns = own.reduce((sum, call) => sum + part(call), 0);
      const calls_in = thread.calls.filter(call => inPart(call, { from, to })).length;
      return { thread: thread.id, tid: thread.tid, called_ns, calls: calls_in, cct: [] };
    }),
  };
}

function names({ threads }) {
  const functions = NAMES.map((name, id) => {
    const own = threads.flatMap(thread => thread.calls.filter(call => call.fn === id));
    const self_ns = own.reduce((sum, call) => sum + call.self, 0);
    return { id, name, module: '', is_wait: WAITS.has(id), count: own.length, self_ns };
  });
  return { functions };
}

function threadList({ threads }) {
  const list = threads.map(({ id, tid, pid, name, calls: own, cut, first, last, maxDepth }) => ({
    ...{ id, tid, pid, name, calls: own.length, cut_calls: cut, first_ns: first, last_ns: last },
    max_depth: maxDepth,
  }));
  return { threads: list };
}

const NS_COLUMNS = ['held_ns', 'held_waited_ns', 'waits_ns'].map(name => [name, 'f64']);
export const LANE_COLUMNS = [
  ...['thread', 'object', 'first_piece', 'n_pieces'].map(name => [name, 'u32']),
  ...NS_COLUMNS,
];
export const PIECE_COLUMNS = [
  ...['start_ns', 'end_ns'].map(name => [name, 'f64']),
  ...NS_COLUMNS,
  ['count', 'u32'],
  ['state', 'u8'],
];

/** Questions of other screens: they are told nothing. */
const OTHERS = new Set(['regtime', 'shapes', 'functions', 'info', 'progress', 'colors', 'tree']);
/** No lock of it was waited for. */
const lanes = () =>
  encodeColumns({ objects: [], states: [], found: 0 }, [
    { name: 'lanes', rows: [], columns: LANE_COLUMNS },
    { name: 'pieces', rows: [], columns: PIECE_COLUMNS },
  ]);
const ANSWERS = { lanes, lod, calls, histogram, item, step, outliers, interval, names };

function partOf(trace, query) {
  const get = name => query.get(name);
  const number = (name, other) => (query.has(name) ? Number(get(name)) : other);
  const ids = (get('thread') ?? get('threads'))?.split(',').map(Number);
  return {
    threads: ids ? ids.map(id => trace.threads[id]) : trace.threads,
    ...{ from: number('from', 0), to: number('to', trace.duration), width: number('width', 1) },
    fn: get('fn')?.split(',').map(Number),
    ...{ min: number('min_ns', 0), max: number('max_ns', Infinity), sort: get('sort') },
    ...{ limit: number('limit', 1000), at: number('at', 0), depth: number('depth', 0) },
    direction: get('direction') ?? 'next',
  };
}

function answer(trace, name, query) {
  const { duration, threads } = trace;
  const nCalls = threads.reduce((sum, thread) => sum + thread.calls.length, 0);
  const own = { id: 0, name: trace.name, format: 'made up', duration_ns: duration };
  if (name === 'traces')
    return { version: 'test', traces: [{ ...own, threads: threads.length, calls: nCalls }] };
  if (name === 'threads') return threadList(trace);
  if (name === 'notes') return { version: 1, flags: [{ t_ns: duration / 4, note: 'given' }] };
  if (OTHERS.has(name)) return {};
  return ANSWERS[name]?.(partOf(trace, query)) ?? null;
}

const DIST = new URL('../../dist/', import.meta.url).pathname;
const INDEX =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>weft</title>' +
  '<link rel="stylesheet" href="weft.css"></head><body><div id="app"></div>' +
  '<script src="weft.js"></script></body></html>';
const FILES = {
  '': ['text/html', () => INDEX],
  'weft.js': ['text/javascript', () => readFileSync(`${DIST}served.js`)],
  'weft.css': ['text/css', () => readFileSync(`${DIST}served.css`)],
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A server of the page on a free port, with `reply` for what it asks. */
function listen(reply, port) {
  const asked = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://x');
    const name = url.pathname.replace(/^\/token\//, '');
    response.setHeader('Content-Security-Policy', POLICY);
    const send = (status, type, body) => {
      response.writeHead(status, { 'Content-Type': type });
      response.end(body);
    };
    if (name === '/favicon.ico') return send(204, 'text/plain', '');
    if (FILES[name]) return send(200, FILES[name][0], FILES[name][1]());
    asked.push(request.url);
    return reply(name.replace(/^api\//, ''), url, send, request, response);
  });
  return new Promise(resolve => {
    server.listen(port, '127.0.0.1', () => {
      const address = `http://127.0.0.1:${server.address().port}/token/`;
      resolve({ address, asked, close: () => server.close() });
    });
  });
}

/** Serves a made-up trace. `more` answers first: true if it did, or will. */
export function startServer(trace, port = 0, more = () => false) {
  return listen((name, { searchParams }, send) => {
    if (more(name, searchParams, send)) return undefined;
    const found = answer(trace, name, searchParams);
    if (!found) return send(404, 'application/json', '{"error":{"message":"not known here"}}');
    if (Buffer.isBuffer(found)) return send(200, 'application/vnd.weft.columns', found);
    return send(200, 'application/json', JSON.stringify(found));
  }, port);
}

/** The page of dist/ before the answers of a `weft serve` at `address`. */
export function startBefore(address, port = 0) {
  return listen((name, { search }, send, request, response) => {
    const passed = get(`${address}api/${name}${search}`, { headers: {} }, reply => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    passed.on('error', error => response.headersSent || send(502, 'text/plain', error.message));
    response.on('close', () => passed.destroy());
  }, port);
}

/** Starts a binary on a trace; resolves to its address and how to end it. */
export function startBinary(binary, trace) {
  const child = spawn(binary, ['serve', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', data => {
      text += data;
      const found = /http:\S+/.exec(text);
      if (found) resolve({ address: found[0], pid: child.pid, close: () => child.kill() });
    });
    child.on('exit', code => reject(new Error(`${binary} ended with ${code}`)));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (!existsSync(`${DIST}served.js`)) throw new Error('run npm run build first');
  const { address } = await startServer(
    makeTrace(Number(process.argv[2] ?? 40)),
    Number(process.argv[3] ?? 0),
  );
  console.log(address);
}
