// SPDX-License-Identifier: MIT
// A made-up browser, as SyncTrace (section V) found one: a main thread that lets workers go on, workers
// that are mostly idle, a hang monitor that waits for ever, a compressor whose work is shorter than its
// notification, a poller whose period changes. And the server's answers about it, by looking at every
// wait.
// usage: node fakeinterplay.mjs [PORT]
import { pathToFileURL } from 'node:url';
import { encodeColumns, LANE_COLUMNS, PIECE_COLUMNS, startServer } from './timelineserver.mjs';

const MS = 1e6;
export const DURATION = 2000 * MS;
const NAMES = [
  ...['do_main', 'nsThread::ProcessNextEvent', 'handle_event', 'run_timers', 'paint', 'layout'],
  ...['Monitor::Notify', 'Monitor::Wait', 'nsThread::ThreadFunc', 'decode_image'],
  ...['mozilla::HangMonitor::ThreadMain', 'js::SourceCompressorThread::internalCompress'],
  ...['compress', 'nsThreadManager::NewThread', 'nsDocShell::AddURIVisit', 'sqlite3_step'],
  ...['fsync', 'poll', 'poll_loop', 'compute_hash'],
];
const FN = Object.fromEntries(NAMES.map((name, id) => [name, id]));
const WAIT_FNS = new Set([FN['Monitor::Wait'], FN.poll]);
const CONFIRMED = 4;

class Thread {
  constructor(id, name) {
    Object.assign(this, { id, tid: 100 + id, pid: 100, name, calls: [], waits: [], io: [] });
  }

  call(name, start, end, depth) {
    this.calls.push({ start, end, depth, fn: FN[name], flags: 0, self: 0 });
    return this;
  }

  /** A wait in Monitor::Wait, and its release. */
  wait(start, end, depth, object, by = null) {
    this.call(object === 'timer' ? 'poll' : 'Monitor::Wait', start, end, depth);
    this.waits.push({ start, end, depth, object, by });
    return this;
  }

  done() {
    this.calls.sort((a, b) => a.start - b.start || a.depth - b.depth);
    const ends = [];
    for (const { start, end, depth, fn } of this.calls) {
      if (start < (ends[depth] ?? 0)) throw new Error(`${NAMES[fn]} overlaps at ${start}`);
      ends[depth] = end;
    }
    this.first = Math.min(...this.calls.map(({ start }) => start));
    this.last = Math.max(...this.calls.map(({ end }) => end));
    this.maxDepth = Math.max(...this.calls.map(({ depth }) => depth));
    this.cut = 0;
    return this;
  }
}

/** Main calls Monitor::Notify at `at`, as deep as the task that it is part of. */
function notify(main, at, depth) {
  main.call('Monitor::Notify', at - 2000, at + 2000, depth);
  return { thread: 0, at: at - 2000, depth };
}

function makeMain() {
  const main = new Thread(0, 'main');
  main.call('do_main', 0, DURATION, 0);
  for (let i = 0; i < 100; i++) {
    const at = i * 20 * MS;
    main.call('nsThread::ProcessNextEvent', at + MS, at + 18 * MS, 1);
    main.call('handle_event', at + 1.2 * MS, at + 17 * MS, 2);
    main.call(i % 2 ? 'layout' : 'paint', at + 1.4 * MS, at + 16 * MS, 3);
    main.call('run_timers', at + 2 * MS, at + 15 * MS, 4);
  }
  return main;
}

function makeWorkers(main) {
  return [1, 2, 3, 4].map(id => {
    const worker = new Thread(id, `worker-${id}`);
    worker.call('nsThread::ThreadFunc', MS, DURATION - MS, 0);
    const rounds = id === 1 ? 40 : id === 2 ? 6 : 2;
    const period = (DURATION - 4 * MS) / rounds;
    for (let i = 0; i < rounds; i++) {
      const start = 2 * MS + id * 40000 + i * period;
      const work = id === 1 ? period * 0.5 : 3 * MS;
      const depth = 5 + ((i + id) % 3);
      const by = notify(main, start + period - work, depth);
      worker.call('nsThread::ProcessNextEvent', start, start + period - MS / 10, 1);
      worker.wait(start + 1000, start + period - work + 3000, 2, id, by);
      worker.call('decode_image', start + period - work + 4000, start + period - MS / 5, 2);
    }
    return worker;
  });
}

function makeCompressor(main) {
  const thread = new Thread(6, 'JS compressor');
  thread.call('js::SourceCompressorThread::internalCompress', MS, DURATION - MS, 0);
  for (let i = 0; i < 15; i++) {
    const [start, end] = [2 * MS + i * 130 * MS, 128 * MS + i * 130 * MS];
    thread.wait(start, end, 1, 6, notify(main, end - 3000, 5));
    thread.call('compress', end + 1000, end + 9000, 1);
    thread.call('Monitor::Notify', end + 10000, end + 60000, 1);
  }
  return thread;
}

function makePoller() {
  const thread = new Thread(7, 'poller');
  thread.call('poll_loop', MS, DURATION - MS, 0);
  for (let at = 2 * MS; at < DURATION - 110 * MS; ) {
    const period = at < 1000 * MS ? 100 * MS : 10 * MS;
    thread.wait(at, at + period - 50000, 1, 'timer');
    at += period;
  }
  return thread;
}

export function makeBrowser() {
  const main = makeMain();
  const workers = makeWorkers(main);
  const monitor = new Thread(5, 'hang monitor');
  monitor.call('mozilla::HangMonitor::ThreadMain', MS, DURATION, 0);
  monitor.wait(2 * MS, DURATION, 1, 5);
  const rest = [makeCompressor(main), makePoller()];
  const pure = new Thread(8, 'hasher').call('compute_hash', MS, DURATION - MS, 0);
  const made = new Thread(9, 'created');
  made.call('nsThread::ThreadFunc', 905 * MS, 1200 * MS, 0);
  made.call('Monitor::Notify', 907.7 * MS, 907.71 * MS, 1);
  main.call('nsThreadManager::NewThread', 903 * MS, 907.9 * MS, 5);
  main.wait(904 * MS, 907.8 * MS, 6, 9, { thread: 9, at: 907.7 * MS, depth: 1 });
  for (let i = 0; i < 60; i++) {
    const at = 4 * MS + i * 20 * MS;
    if (i === 30 || i === 45) continue;
    main.call('nsDocShell::AddURIVisit', at, at + MS / 10, 5);
    if (i % 3 === 0) {
      main.call('fsync', at + 20000, at + 50000, 6);
      main.io.push({ start: at + 20000, end: at + 50000 });
    }
  }
  main.call('nsDocShell::AddURIVisit', 1304 * MS, 1314 * MS, 5);
  main.call('sqlite3_step', 1304.2 * MS, 1313.8 * MS, 6);
  main.call('fsync', 1304.4 * MS, 1313.6 * MS, 7);
  main.io.push({ start: 1304.4 * MS, end: 1313.6 * MS });
  const threads = [main, ...workers, monitor, ...rest, pure, made].map(one => one.done());
  return { name: 'made-up-browser.weft', duration: DURATION, threads };
}

/* ---- answers ---- */

const SHARED = [1, 2, 3, 4, 5, 6, 9, 'timer'];
const overlap = (a, b, from, to) => Math.max(0, Math.min(b, to) - Math.max(a, from));

function objectsOf(trace) {
  return SHARED.map((object, place) => {
    const waits = trace.threads.flatMap(({ waits }) => waits.filter(one => one.object === object));
    const waiters = trace.threads.filter(({ waits }) => waits.some(one => one.object === object));
    const wait_ns = waits.reduce((sum, { start, end }) => sum + end - start, 0);
    const isTimer = object === 'timer';
    return {
      ...{ id: String(1000 + place), name: isTimer ? '(timer)' : `semaphore 0x${object}00` },
      ...{ kind: isTimer ? 'timer' : 'semaphore', thread: null, n_waiters: waiters.length },
      ...{ n_releasers: isTimer || object === 5 ? 0 : 1, waits: waits.length, wait_ns },
      ...{ uncontended: 0, releases: waits.length, is_untold: false, is_reused: false },
      is_never_released: object === 5,
    };
  });
}

/** Places in the program: of waits by thread, of releases. */
function sitesOf(trace) {
  const site = (fn, call, path) => ({ function: fn, call, path, fn: FN[fn] ?? null, depth: 1 });
  return trace.threads.map(({ calls, waits }) => {
    const root = NAMES[calls.find(({ depth }) => depth === 0).fn];
    const call = waits[0]?.object === 'timer' ? 'poll' : 'Monitor::Wait';
    return site(root, call, `${root};${call}`);
  });
}

function waitRows(trace, { threads, from, to, releasers, object }) {
  const rows = [];
  for (const { id, waits } of threads)
    for (const one of waits) {
      const place = SHARED.indexOf(one.object);
      if (one.start >= to || one.end <= from) continue;
      if (releasers && !releasers.includes(one.by?.thread ?? -1)) continue;
      if (object && object !== String(1000 + place)) continue;
      rows.push({
        ...{ start_ns: one.start, end_ns: one.end, first_release_ns: one.by?.at ?? 0 },
        ...{ last_release_ns: one.by?.at ?? 0, count: 1, sum_ns: one.end - one.start },
        ...{ longest_ns: one.end - one.start, waiter: id, releaser: one.by?.thread ?? -1 },
        ...{ object: place, wait_site: id, release_site: one.by ? one.by.thread : -1 },
        ...{ wait_depth: one.depth, release_depth: one.by?.depth ?? 0, n_objects: 1, kind: 3 },
        ...{ mode: 0, confidence: one.by ? CONFIRMED : 0, flags: one.object === 5 ? 2 : 0 },
        unknown: one.object === 5 ? 0 : 2,
      });
    }
  return rows.sort((a, b) => a.start_ns - b.start_ns || a.waiter - b.waiter);
}

const typed = (type, ...names) => names.map(name => [name, type]);
const ROW_COLUMNS = [
  ...typed('f64', 'start_ns', 'end_ns', 'first_release_ns', 'last_release_ns', 'sum_ns'),
  ...typed('f64', 'longest_ns'),
  ...typed('u32', 'count', 'n_objects'),
  ...typed('i32', 'waiter', 'releaser', 'object', 'wait_site', 'release_site'),
  ...typed('u16', 'wait_depth', 'release_depth'),
  ...typed('u8', 'kind', 'mode', 'confidence', 'flags', 'unknown'),
];
const WORDS = {
  kinds: ['mutex', 'rwlock', 'condition', 'semaphore', 'barrier', 'join', 'futex', 'timer'],
  confidences: ['none', 'wakeup', 'ambiguous', 'release', 'confirmed'],
  reasons: ['cut_end', 'failed', 'timer'],
  reason_texts: ['it had not ended when the trace did', 'it failed', 'time alone ends it'],
};

function correspondences(trace, part) {
  const rows = waitRows(trace, part);
  const meta = { ...WORDS, objects: objectsOf(trace), sites: sitesOf(trace), column_ns: 0 };
  return encodeColumns({ ...meta, found: rows.length, unknown: 0 }, [
    { name: 'rows', rows, columns: ROW_COLUMNS },
  ]);
}

const SPAN_COLUMNS = typed('u32', 'id', 'first_item', 'n_items');

function blocking(trace, { threads, from, to, width }) {
  const columns = [];
  const heads = threads.map(({ id, waits, io }) => {
    const first = columns.length;
    const own = new Map();
    const ns = (to - from) / width;
    for (const [list, key] of [
      [waits, 'wait_ns'],
      [io, 'io_ns'],
    ])
      for (const { start, end } of list) {
        const last = Math.min(width - 1, Math.floor((end - from) / ns));
        for (let c = Math.max(0, Math.floor((start - from) / ns)); c <= last; c++) {
          const row = own.get(c) ?? { column: c, wait_ns: 0, io_ns: 0 };
          row[key] += overlap(start, end, from + c * ns, from + (c + 1) * ns);
          own.set(c, row);
        }
      }
    columns.push(...[...own.values()].sort((a, b) => a.column - b.column));
    return { id, first_item: first, n_items: columns.length - first };
  });
  return encodeColumns({ from_ns: from, to_ns: to, width }, [
    { name: 'threads', rows: heads, columns: SPAN_COLUMNS },
    {
      name: 'columns',
      rows: columns,
      columns: [...typed('u32', 'column'), ...typed('f64', 'wait_ns', 'io_ns')],
    },
  ]);
}

function summed(rows, keyOf, make) {
  const all = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    const own = all.get(key) ?? {
      ...make(row),
      count: 0,
      sum_ns: 0,
      longest_ns: 0,
      longest_at_ns: 0,
    };
    own.count++;
    own.sum_ns += row.sum_ns;
    if (row.sum_ns > own.longest_ns)
      Object.assign(own, { longest_ns: row.sum_ns, longest_at_ns: row.start_ns });
    all.set(key, own);
  }
  return [...all.values()].sort((a, b) => b.sum_ns - a.sum_ns);
}

function threadRow(thread, rows, { from, to }) {
  const own = rows.filter(({ waiter }) => waiter === thread.id);
  const ended = rows.filter(({ releaser }) => releaser === thread.id);
  const longest = [...own].sort((a, b) => b.sum_ns - a.sum_ns)[0];
  const wait_ns = own.reduce((sum, row) => sum + overlap(row.start_ns, row.end_ns, from, to), 0);
  const io = thread.io.filter(({ start, end }) => end > from && start < to);
  const depths = ended.map(row => row.release_depth);
  const life = thread.last - thread.first;
  return {
    ...{ thread: thread.id, first_ns: thread.first, last_ns: thread.last, waits: own.length },
    ...{
      wait_ns,
      longest_wait_ns: longest?.sum_ns ?? 0,
      longest_wait_at_ns: longest?.start_ns ?? 0,
    },
    ...{ io: io.length, io_ns: io.reduce((sum, { start, end }) => sum + end - start, 0) },
    ...{ releases: ended.length, uncontended: 0, released: ended.length, failed: 0, cut: 0 },
    released_ns: ended.reduce((sum, row) => sum + row.sum_ns, 0),
    ...{ main_releaser: longest?.releaser ?? -1, main_releaser_ns: wait_ns, n_releasers: 1 },
    ...{ least_depth: Math.min(99, ...depths), most_depth: Math.max(0, ...depths) },
    never_waits: own.length + io.length === 0 ? 1 : 0,
    waits_all_along: longest && longest.sum_ns > 0.95 * life ? 1 : 0,
  };
}

const THREAD_COLUMNS = [
  ...typed('u32', 'thread', 'n_releasers', 'least_depth', 'most_depth'),
  ...typed('i32', 'main_releaser'),
  ...typed('f64', 'first_ns', 'last_ns', 'waits', 'wait_ns', 'longest_wait_ns'),
  ...typed('f64', 'longest_wait_at_ns', 'io', 'io_ns', 'releases', 'uncontended', 'released'),
  ...typed('f64', 'released_ns', 'failed', 'cut', 'main_releaser_ns'),
  ...typed('u8', 'never_waits', 'waits_all_along'),
];

const PATTERNS = [
  {
    ...{ kind: 'farmer', thread: 0, others: [1, 2, 3, 4, 6], object: null, from_ns: 0, to_ns: 0 },
    text: 'main ends the waits of 5 threads, which wait for it alone',
  },
  {
    ...{ kind: 'unbounded', thread: 5, others: [], object: 4, from_ns: 2 * MS, to_ns: DURATION },
    text: 'hang monitor waits for semaphore 0x500 all its life, without a timeout',
  },
];

function interplay(trace, part) {
  const rows = waitRows(trace, part);
  const cells = summed(
    rows,
    row => `${row.waiter} ${row.releaser}`,
    ({ waiter, releaser, object }) => ({ waiter, releaser, object, n_objects: 1 }),
  );
  const pairs = summed(
    rows,
    row => `${row.wait_site} ${row.release_site}`,
    ({ wait_site, release_site, kind, waiter }) => ({
      ...{ wait_site, release_site, kind, longest_waiter: waiter },
    }),
  );
  const sums = [...typed('f64', 'count', 'sum_ns', 'longest_ns', 'longest_at_ns')];
  const wait_ns = rows.reduce((sum, row) => sum + row.sum_ns, 0);
  const meta = {
    ...{ from_ns: part.from, to_ns: part.to, waits: rows.length, wait_ns, uncontended: 12 },
    ...{ joined: rows.filter(({ releaser }) => releaser >= 0).length, io: 21, io_ns: 10 * MS },
    ...{
      never_released: 1,
      reused: 0,
      lost: 0,
      left_out_threads: part.leftOut,
      by_confidence: [],
      by_unknown: [1, 0, 90],
    },
    ...{ ...WORDS, known: ['calls', 'objects', 'io'], patterns: PATTERNS },
    lacks: [{ name: 'wakeups', text: 'without a kernel, who woke whom is not confirmed' }],
    ...{ objects: objectsOf(trace), sites: sitesOf(trace) },
  };
  return encodeColumns(meta, [
    {
      ...{ name: 'threads', columns: THREAD_COLUMNS },
      rows: part.threads.map(thread => threadRow(thread, rows, part)),
    },
    {
      ...{ name: 'cells', rows: cells },
      columns: [
        ...typed('u32', 'waiter', 'n_objects'),
        ...typed('i32', 'releaser', 'object'),
        ...sums,
      ],
    },
    {
      ...{ name: 'pairs', rows: pairs },
      columns: [
        ...typed('i32', 'wait_site', 'release_site'),
        ...typed('u8', 'kind'),
        ...typed('u32', 'longest_waiter'),
        ...sums,
      ],
    },
  ]);
}

function lanes(trace, { threads, from, to }) {
  const [heads, pieces] = [[], []];
  const add = (thread, object, list) => {
    const first_piece = pieces.length;
    for (const { start, end, state } of list)
      pieces.push({
        ...{ start_ns: start, end_ns: end, count: 1, state, held_ns: 0, held_waited_ns: 0 },
        waits_ns: end - start,
      });
    const waits_ns = list.reduce((sum, { start, end }) => sum + end - start, 0);
    const n_pieces = pieces.length - first_piece;
    heads.push({ thread, object, first_piece, n_pieces, held_ns: 0, held_waited_ns: 0, waits_ns });
  };
  for (const { id, waits } of threads)
    for (const [place, object] of SHARED.entries()) {
      const own = waits.filter(one => one.object === object && one.end > from && one.start < to);
      if (own.length > 0)
        add(
          id,
          place,
          own.map(one => ({ ...one, state: 2 })),
        );
    }
  const meta = { from_ns: from, to_ns: to, found: heads.length, objects: objectsOf(trace) };
  return encodeColumns({ ...meta, states: ['held', 'held_waited', 'waits'] }, [
    { name: 'lanes', rows: heads, columns: LANE_COLUMNS },
    { name: 'pieces', rows: pieces, columns: PIECE_COLUMNS },
  ]);
}

function locktree(trace, part) {
  const rows = waitRows(trace, part);
  const sum_ns = rows.reduce((sum, row) => sum + row.sum_ns, 0);
  const nodes = [];
  const names = [];
  for (const one of summed(
    rows,
    row => row.wait_site,
    row => ({ site: row.wait_site }),
  )) {
    const parent = nodes.length;
    const common = { count: one.count, sum_ns: one.sum_ns };
    nodes.push({ ...common, parent: -1, depth: 0, function: -1, self_ns: 0 });
    nodes.push({ ...common, parent, depth: 1, function: FN['Monitor::Wait'], self_ns: one.sum_ns });
    names.push(sitesOf(trace)[one.site].function, 'Monitor::Wait');
  }
  const meta = { from_ns: part.from, to_ns: part.to, total: nodes.length, sum_ns, unknown_ns: 0 };
  return encodeColumns({ ...meta, names }, [
    {
      ...{ name: 'nodes', rows: nodes },
      columns: [
        ...typed('i32', 'parent', 'function'),
        ...typed('u16', 'depth'),
        ...typed('f64', 'count', 'sum_ns', 'self_ns'),
      ],
    },
  ]);
}

function names(trace) {
  const functions = NAMES.map((name, id) => {
    const own = trace.threads.flatMap(({ calls }) => calls.filter(({ fn }) => fn === id));
    const ns = own.reduce((sum, { start, end }) => sum + end - start, 0);
    const common = { id, fn: id, name, module: '', is_wait: WAIT_FNS.has(id), count: own.length };
    return { ...common, self_ns: ns, mean_ns: ns / Math.max(1, own.length) };
  });
  return { functions };
}

/** Threads of other processes than the recorded one do not wait. */
function leaveOut(trace, part) {
  const kept = part.threads.filter(({ name }) => !trace.foreign.includes(name));
  part.leftOut = part.threads.length - kept.length;
  part.threads = kept;
}

const ANSWERS = { interplay, correspondences, blocking, lanes, locktree };

/** Answers what the screens of waits ask; true: it did. */
export function answerInterplay(trace) {
  return (name, query, send) => {
    if (name === 'names' || name === 'functions') {
      send(200, 'application/json', JSON.stringify(names(trace)));
      return true;
    }
    if (!ANSWERS[name]) return false;
    const number = (key, other) => (query.has(key) ? Number(query.get(key)) : other);
    const list = key => query.get(key)?.split(',').map(Number);
    const part = {
      threads: list('threads')?.map(id => trace.threads[id]) ?? trace.threads,
      ...{ from: number('from', 0), to: number('to', trace.duration), width: number('width', 1) },
      ...{ releasers: list('releasers'), object: query.get('object'), leftOut: 0 },
    };
    if (name === 'interplay' && query.get('all') !== '1' && !query.has('threads'))
      leaveOut(trace, part);
    send(200, 'application/vnd.weft.columns', ANSWERS[name](trace, part));
    return true;
  };
}

/** `foreign`: names of threads that are not of the recorded process. */
export function serveBrowser(port = 0, foreign = []) {
  const trace = { ...makeBrowser(), foreign };
  return startServer(trace, port, answerInterplay(trace)).then(server => ({ ...server, trace }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  console.log((await serveBrowser(Number(process.argv[2] ?? 0))).address);
