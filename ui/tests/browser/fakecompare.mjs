// SPDX-License-Identifier: MIT
// What the Critical path and Compare screens ask of a server, answered from made-up executions: one
// in ten waits for a lock that the thread `journal` holds. Groups are chosen by looking at each.
import { makeTrace } from './fakefunctions.mjs';
import { encodeColumns, startServer } from './timelineserver.mjs';

const FRAMES = [
  ['insert', 'function'],
  ['running', 'state'],
  ['page_lock', 'function'],
  ['journal', 'thread'],
  ['flush', 'function'],
  ['running', 'state'],
  ['unknown', 'state'],
].map(([name, kind]) => ({ name, kind, module: '', wait: '' }));
/** With another name for what is done under the lock. */
const framesOf = flush =>
  FRAMES.map(frame => (frame.name === 'flush' ? { ...frame, name: flush } : frame));
const PARENTS = [-1, 0, 1, 1, 3, 4, 5, 3];
const OWN = { running: 2, journal: 6, unexplained: 7 }; // nodes with time of their own

/** `n` executions of thread 3; times are ns. */
export function makeRuns(n, tid) {
  return Array.from({ length: n }, (_, i) => {
    const base = 200 + ((i * 7919) % 300);
    const wait = i % 10 === 9 ? 9000 + ((i * 104729) % 3000) : 0;
    const none = i % 7 === 0 ? 5 : 0;
    const start = (i * 37) % 100000;
    return {
      ...{ id: i + 1, source: 0, tid, thread: 0, start_ns: start, flags: 0 },
      end_ns: start + base + wait + none,
      own: { [OWN.running]: base, [OWN.journal]: wait, [OWN.unexplained]: none },
      metrics: [base + wait + none, start, wait, i % 4],
    };
  });
}

const METRICS = [
  { name: 'duration', unit: 'ns' },
  { name: 'start', unit: 'ns' },
  { name: 'blocked_lock', unit: 'ns', state: 'blocked', reason: 'lock' },
  { name: 'page_faults', unit: 'count' },
];

/** By node, of all below it too: made once a run, as there may be very many. */
function inclusive(run, node) {
  if (!run.sums) {
    run.sums = new Float64Array(PARENTS.length);
    for (const [at, ns] of Object.entries(run.own))
      for (let up = Number(at); up >= 0; up = PARENTS[up]) run.sums[up] += ns;
  }
  return run.sums[node];
}

function nodeOf(path) {
  let node = 0;
  for (const name of path.split(';'))
    node = PARENTS.findIndex((up, i) => up === node && i > 0 && FRAMES[i - 1].name === name);
  return node;
}

/** Conditions with "and" between, as the page writes them; read once, then asked of each run. */
function chooser(text) {
  const conditions =
    text === ''
      ? []
      : text.split(' and ').map(part => {
          const match = /^(metric|context)\('(.*)'\)(>=|<=)(-?[\d.]+)(?:ns)?$/.exec(part);
          if (!match) throw new Error(`no filter: ${part}`);
          const [, kind, name, op, value] = match;
          const metric = METRICS.findIndex(one => one.name === name);
          const node = kind === 'context' ? nodeOf(name) : -1;
          return { kind, metric, node, isLeast: op === '>=', value: Number(value) };
        });
  return run =>
    conditions.every(({ kind, metric, node, isLeast, value }) => {
      const own = kind === 'metric' ? run.metrics[metric] : inclusive(run, node);
      return isLeast ? own >= value : own <= value;
    });
}

const mean = list => list.reduce((sum, one) => sum + one, 0) / Math.max(1, list.length);
const variance = list => {
  const middle = mean(list);
  return list.reduce((sum, one) => sum + (one - middle) ** 2, 0) / Math.max(1, list.length);
};

function differ(a, b) {
  const difference = mean(b) - mean(a);
  const error = Math.sqrt(
    variance(a) / Math.max(1, a.length) + variance(b) / Math.max(1, b.length),
  );
  if (a.length < 2 || b.length < 2) {
    const none = { low: NaN, high: NaN, t: NaN, p: NaN }; // as of the server
    return { difference, ...none };
  }
  const t = error > 0 ? difference / error : difference === 0 ? 0 : 1e3;
  const p = Math.abs(t) > 4 ? 1e-6 : Math.abs(t) > 2 ? 0.03 : 0.5;
  return { difference, low: difference - 2 * error, high: difference + 2 * error, t, p };
}

const F64 = names => names.map(name => [name, 'f64']);

function executions(runs, get, flush) {
  if (get('node') !== null) {
    const rows = runs.map(run => ({ value: inclusive(run, Number(get('node'))) }));
    return encodeColumns({}, [{ name: 'context', rows, columns: F64(['value']) }]);
  }
  const nodes = PARENTS.map((parent, i) => ({ parent, frame: i - 1, confidence: i === 7 ? 2 : 0 }));
  const meta = {
    ...{
      damaged: 0,
      partial_runs: 0,
      threads: ['client'],
      metrics: METRICS,
      frames: framesOf(flush),
    },
    sources: [{ path: 'made-up.weft', host: '', tag: '', trace: 0 }],
  };
  const of = [
    ['source', 'u32'],
    ['thread', 'u32'],
    ['flags', 'u8'],
  ];
  return encodeColumns(meta, [
    {
      name: 'executions',
      rows: runs,
      columns: [...F64(['id', 'tid', 'start_ns', 'end_ns']), ...of],
    },
    {
      name: 'nodes',
      rows: nodes,
      columns: [
        ['parent', 'i32'],
        ['frame', 'i32'],
        ['confidence', 'u8'],
      ],
    },
    ...METRICS.map((_, i) => ({
      ...{ name: `metric_${i}`, rows: runs.map(run => ({ value: run.metrics[i] })) },
      columns: F64(['value']),
    })),
  ]);
}

/** A file is saved as it comes, whatever is in it. */
export const CSV = 'node,path\n1,"\'=a, \u2068b\u2069"\n';

/** As the server answers, if the test gives no verdict of its own. */
function answerOf({ difference, low, high }, nA, nB) {
  const empty = nA === 0 && nB === 0 ? 'A, and group B,' : nA === 0 ? 'A' : nB === 0 ? 'B' : '';
  if (empty) return { answer: `nothing to compare: group ${empty} has no execution`, grounds: '' };
  if (!(low > 0 || high < 0)) return { answer: 'no evidence', grounds: '' };
  const word = difference > 0 ? 'slower' : 'faster';
  return { answer: `B is ${word} by ${Math.abs(difference)} ns per insert`, grounds: '' };
}

function compare(runs, get, verdict, nCauses) {
  const [inA, inB] = ['a', 'b'].map(side => runs.map(chooser(get(side) ?? '')));
  const groups = [inA, inB].map(is => runs.filter((_, i) => is[i]));
  // of very many a share tells as much, and this process is that of the test, too
  const [a, b] = groups.map(own => own.filter((_, i) => own.length < 5000 || i % 50 === 0));
  const rows = PARENTS.slice(1).map((_, i) => {
    const own = list => list.map(run => run.own[i + 1] ?? 0);
    const { difference, low, high, t, p } = differ(own(a), own(b));
    return {
      ...{ node: i + 1, n_a: groups[0].length, n_b: groups[1].length, is_sure: p < 0.05 ? 1 : 0 },
      ...{ mean_a_ns: mean(own(a)), mean_b_ns: mean(own(b)), difference_ns: difference },
      total_a_ns: mean(a.map(run => inclusive(run, i + 1))),
      total_b_ns: mean(b.map(run => inclusive(run, i + 1))),
      ...{ low_ns: low, high_ns: high, t, df: 10, p, p_adjusted: p, effect: t / 10 },
    };
  });
  const ranked = rows
    .map((row, i) => ({ value: i, by: Math.abs(row.difference_ns) }))
    .filter(({ by }) => by > 0)
    .sort((x, y) => y.by - x.by);
  const metrics = METRICS.map((_, i) => {
    const [x, y] = [a, b].map(list => list.map(run => run.metrics[i]));
    const stats = { sd_a: 0, sd_b: 0, p50_a: 0, p50_b: 0, p99_a: 0, p99_b: 0, df: 10 };
    const all = { metric: i, mean_a: mean(x), mean_b: mean(y), ...stats, ...differ(x, y) };
    return { ...all, p_adjusted: all.p, effect: all.t / 10 };
  });
  const isDraft = get('draft') === '1';
  const causes = Array.from({ length: nCauses }, (_, i) => ({
    node: rows[ranked[i % Math.max(1, ranked.length)]?.value ?? 0].node,
    n_items: groups[1].filter((_, k) => k % nCauses === i).length,
    difference_ns: (ranked[0]?.by ?? 0) / (i + 1),
    ...{ duration_ns: mean(b.map(run => run.metrics[0])), example: 0, context: 1, context_ns: 0 },
  })).filter(cause => cause.n_items > 0);
  const words = ['n_a', 'n_b', 'node'].map(name => [name, 'u32']);
  const reals = Object.keys(rows[0]).filter(name => name.endsWith('_ns'));
  const both = inA.filter((is, i) => is && inB[i]).length;
  const neither = inA.filter((is, i) => !is && !inB[i]).length;
  const said = verdict ?? answerOf(metrics[0], groups[0].length, groups[1].length);
  return encodeColumns({ a: groups[0].length, b: groups[1].length, neither, both, ...said }, [
    {
      ...{ name: 'nodes', rows },
      columns: [
        ...words,
        ['is_sure', 'u8'],
        ...F64([...reals, 't', 'df', 'p', 'p_adjusted', 'effect']),
      ],
    },
    { name: 'ranked', rows: ranked, columns: [['value', 'u32']] },
    {
      ...{ name: 'metrics', rows: metrics },
      columns: [
        ['metric', 'u32'],
        ...F64(Object.keys(metrics[0]).filter(name => name !== 'metric')),
      ],
    },
    {
      ...{ name: 'causes', rows: isDraft ? [] : causes },
      columns: [
        ...[
          ['node', 'i32'],
          ['n_items', 'u32'],
          ['example', 'u32'],
          ['context', 'i32'],
        ],
        ...F64(['difference_ns', 'duration_ns', 'context_ns']),
      ],
    },
    {
      name: 'cause_of',
      rows: isDraft ? [] : groups[1].map((_, i) => ({ value: i % nCauses })),
      columns: [['value', 'u32']],
    },
    {
      name: 'members',
      rows: inA.map((is, i) => ({ value: (is ? 1 : 0) | (inB[i] ? 2 : 0) })),
      columns: [['value', 'u8']],
    },
  ]);
}

/** A path that goes to the next thread in its middle third, and does not explain its end. */
/** One in ten waits for longer than all others take. */
function cut(runs) {
  const lengths = runs.map(run => run.metrics[0]);
  const fast = lengths.filter(ns => ns < 5000);
  if (fast.length === lengths.length) return { by: 'nothing' };
  const slow = lengths.filter(ns => ns >= 5000);
  const least = list => list.reduce((a, b) => Math.min(a, b), Infinity);
  return { by: 'durations', a_max_ns: -least(fast.map(ns => -ns)), b_min_ns: least(slow) };
}

function path(get) {
  const thread = Number(get('thread') ?? 0);
  const [from, to] = [Number(get('from')), Number(get('to'))];
  const cut = share => Math.round(from + (to - from) * share);
  const segment = (start, end, own, depth, state, reason = null) => ({
    ...{ start_ns: start, end_ns: end, thread_id: own, depth, state, reason },
    ...{ name: null, function: depth ? 'flush' : 'insert', fn: 0 },
  });
  const segments = [
    segment(from, cut(1 / 3), thread, 0, 'running_user'),
    segment(cut(1 / 3), cut(2 / 3), thread + 1, 1, 'preempted'),
    segment(cut(2 / 3), cut(0.9), thread, 0, 'blocked', 'block_device'),
    segment(cut(0.9), to, thread, 0, 'blocked', 'unknown'),
  ];
  const length = i => segments[i].end_ns - segments[i].start_ns;
  return {
    ...{ thread_id: thread, from_ns: from, to_ns: to, has_kernel: true, unexplained_ns: length(3) },
    ...{
      uncertain_ns: 0,
      cycles: 0,
      too_deep: 0,
      segments_total: 4,
      segments,
      arrows: [],
      locks: [],
    },
    reasons: segments.map(({ state, reason }, i) => ({
      state,
      reason,
      sum_ns: length(i),
      segments: 1,
    })),
    threads: [
      {
        thread_id: thread,
        sum_ns: length(0) + length(2) + length(3),
        running_ns: length(0),
        blocked_ns: length(2) + length(3),
      },
      { thread_id: thread + 1, sum_ns: length(1), preempted_ns: length(1) },
    ],
    functions: [{ fn: 0, function: 'insert', running_ns: length(0), waiting_ns: length(2) }],
    spans: [],
  };
}

/** Serves `n` executions of a made-up trace, and a database of the same; `asked` lists questions.
 * `isAlone`: the database without a trace; `nCauses`: what the slow ones are slow for. */
export async function serveCompare(
  n,
  { verdict = null, isAlone = false, nCauses = 1, flush = 'flush' } = {},
) {
  const trace = makeTrace({ threads: 6, rounds: 20 });
  const runs = makeRuns(n, 103);
  const asked = [];
  const server = await startServer(trace, 0, (name, query, send) => {
    const get = key => query.get(key);
    asked.push({ name, query: Object.fromEntries(query) });
    const json = body => send(200, 'application/json', JSON.stringify(body));
    const columns = body => send(200, 'application/vnd.weft.columns', body);
    if (isAlone && name === 'traces')
      json({ version: '0', traces: [], databases: [{ id: 0, name: 'runs.db' }] });
    else if (isAlone && get('trace') !== null) send(400, 'text/plain', 'there is no trace');
    else if (name === 'types' && get('db') !== null)
      json({ types: [{ name: 'insert', count: n, unfinished: 0 }], proposals: [] });
    else if (name === 'types')
      json({
        types: [],
        proposals: [
          {
            name: 'insert',
            begin: 'call:insert',
            end: '',
            match: '',
            within: '',
            why: 'calls that repeat',
            count: n,
          },
        ],
      });
    else if (name === 'executions' && get('begin') === 'call:nothing') {
      send(
        400,
        'application/json',
        '{"error":{"code":"arg","message":"nothing is called nothing"}}',
      );
    } else if (name === 'executions') columns(executions(runs, get, flush));
    else if (name === 'compare' && get('csv') === '1') send(200, 'text/csv', CSV);
    else if (name === 'compare') columns(compare(runs, get, verdict, nCauses));
    else if (name === 'path') json(path(get));
    else if (name === 'cut') json(cut(runs));
    else return false;
    return true;
  });
  return { ...server, asked, runs, trace };
}
