// SPDX-License-Identifier: MIT
// Behaviours: clusters with a name, a hue and the time they take on the outermost level; and the
// sentences that the Patterns screen begins with.
import { assignHues } from './color';
import { duration, integer, percent, plural, times } from './format';
import type { Trace } from './model';
import { outermost, runCovered } from './shapes';
import type { Cluster, Piece, Shapes, ShapeThread } from './shapes';

export interface Behaviour {
  cluster: Cluster;
  /** Short name of the function, and the cluster's id if the function has several. */
  title: string;
  hue: number;
  /** The hue that the palette gave it, whatever colour a person gave. */
  palette: number;
  /** It chose its hue; as many others have it because they are chained to it. */
  isHead: boolean;
  chained: number;
  /** Time in which no other behaviour is around it; known by columns. */
  outer: number;
}

export interface Behaviours {
  shapes: Shapes;
  list: Behaviour[]; // by the page's cluster index: most time first
  /** Of each thread: what it does on the outermost level. */
  lines: (Piece[] | null)[];
  outer: number; // sum
  /** By thread, then cluster: it occurs there, as far as the page knows. */
  present: Uint8Array[];
}

/** Time by cluster in which no behaviour is around it. */
function outerTimes(shapes: Shapes, lines: (Piece[] | null)[]): Float64Array {
  const sums = new Float64Array(shapes.clusters.length);
  lines.forEach((line, i) => {
    if (!line) return;
    const { ribbons } = shapes.threads[i]!;
    for (const { ribbon, run, t0, t1 } of line) {
      const own = ribbons[ribbon]!;
      sums[own.cluster[run]!]! += Math.min(t1 - t0, runCovered(shapes, own, run));
    }
  });
  return sums;
}

/** Names: several clusters of one function are told apart by their ids. */
function titles(clusters: readonly Cluster[], short: readonly string[]): string[] {
  const many = new Map<number, number>();
  for (const { fn } of clusters) many.set(fn, (many.get(fn) ?? 0) + 1);
  return clusters.map(({ fn, id }) => {
    const name = fn < 0 ? 'no function' : short[fn]!;
    return many.get(fn)! > 1 ? `${name} c${id}` : name;
  });
}

/**
 * Is `inner` what `outer` does nearly all the time? As often, nearly as long, and their first
 * occurrences are one in the other.
 */
export function isChained(outer: Cluster, inner: Cluster): boolean {
  const [a, b] = [outer.first, inner.first];
  if (!a || a.thread !== b?.thread || outer.threads !== inner.threads) return false;
  const isInside = (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
  const isAsOften = Math.abs(outer.count - inner.count) <= 0.05 * outer.count;
  return isInside && isAsOften && inner.sum >= 0.9 * outer.sum;
}

interface HueOf {
  hue: number;
  /** The cluster that chose the hue: itself, or the one it is chained to. */
  head: number;
}

/**
 * Hues by prominence: total time. A cluster that is chained to a more prominent one has its hue, so
 * that a caller and what it only passes on to are one colour. What a cluster wants is settled by its
 * function's name and, if the function has several, its rank among them, so that it is the same in
 * every trace.
 */
function clusterHues(trace: Trace, clusters: readonly Cluster[]): HueOf[] {
  const seen = new Map<number, number>();
  const heads: Cluster[] = [];
  const headOf = clusters.map(cluster => {
    const own = heads.slice(0, 10).find(head => isChained(head, cluster));
    if (!own) heads.push(cluster);
    return own ?? cluster;
  });
  const hues = assignHues(
    heads.map(({ fn }) => {
      const rank = (seen.get(fn) ?? 0) + 1;
      seen.set(fn, rank);
      const name = trace.functions.name[fn] ?? '';
      return { key: rank > 1 ? `${name}/${rank}` : name, waits: trace.functions.isWait[fn] === 1 };
    }),
  );
  const hueOfHead = new Map(heads.map((head, i) => [head.index, hues[i]!]));
  return headOf.map(({ index }) => ({ hue: hueOfHead.get(index)!, head: index }));
}

function presentIn(shapes: Shapes, thread: ShapeThread | null): Uint8Array {
  const marks = new Uint8Array(shapes.clusters.length);
  for (const { cluster } of thread?.presences ?? []) marks[cluster] = 1;
  for (const { cluster } of thread?.ribbons ?? []) for (const c of cluster) marks[c] = 1;
  return marks;
}

export function makeBehaviours(trace: Trace, shapes: Shapes, short: readonly string[]): Behaviours {
  const hues = clusterHues(trace, shapes.clusters);
  const chained = new Array<number>(hues.length).fill(0);
  hues.forEach(({ head }, i) => head !== i && chained[head]!++);
  const names = titles(shapes.clusters, short);
  const lines = shapes.threads.map(thread => thread && outermost(shapes, thread));
  const outer = outerTimes(shapes, lines);
  return {
    shapes,
    lines,
    outer: outer.reduce((a, b) => a + b, 0),
    present: shapes.threads.map(thread => presentIn(shapes, thread)),
    list: shapes.clusters.map((cluster, i) => ({
      cluster,
      title: names[i]!,
      hue: hues[i]!.hue,
      palette: hues[i]!.hue,
      isHead: hues[i]!.head === i,
      chained: chained[i]!,
      outer: outer[i]!,
    })),
  };
}

/* ---- sentences ---- */

export interface Told {
  headline: string;
  lead: string;
  /** Behaviours of the outermost level, most time first. */
  top: Behaviour[];
  /** What only one thread does. */
  alone: { behaviour: Behaviour; thread: number }[];
}

/** As few behaviours as make up `share` of the outermost time. */
function fewest(
  top: readonly Behaviour[],
  total: number,
  share: number,
): { n: number; sum: number } {
  let [n, sum] = [0, 0];
  while (n < top.length && sum < share * total) sum += top[n++]!.outer;
  return { n, sum };
}

function aloneOf({ list, shapes, outer }: Behaviours): Told['alone'] {
  const out: Told['alone'] = [];
  for (const behaviour of [...list].sort((a, b) => b.outer - a.outer)) {
    const { cluster } = behaviour;
    if (cluster.threads !== 1 || behaviour.outer < 0.002 * outer) continue;
    const thread = shapes.threads.findIndex(t =>
      t?.presences.some(presence => presence.cluster === cluster.index),
    );
    const at = cluster.first?.thread ?? thread;
    if (at >= 0) out.push({ behaviour, thread: at });
  }
  return out.slice(0, 5);
}

function lives(trace: Trace): number {
  return trace.threads.reduce((sum, t) => sum + Math.max(0, t.last - t.first), 0);
}

function spikeWords({ shapes }: Behaviours): string {
  const worst = [...shapes.spikes].sort((a, b) => b.end - b.start - (a.end - a.start))[0];
  if (!worst) return '';
  const n = shapes.totals.spikes;
  return `${plural(n, 'latency spike')}, the longest ${duration(worst.end - worst.start)} (${times(worst.times)} its median) at ${duration(worst.start)}.`;
}

export function tell(trace: Trace, behaviours: Behaviours): Told {
  const { list, outer, shapes } = behaviours;
  const top = list.filter(b => b.outer > 0).sort((a, b) => b.outer - a.outer);
  const alone = trace.threads.length > 1 ? aloneOf(behaviours) : [];
  if (list.length === 0 || top.length === 0)
    return { headline: 'No behaviour in this trace', lead: whyNone(shapes), top, alone };
  const most = fewest(top, outer, 0.8);
  const { n, sum } = most.n <= 6 ? most : fewest(top, outer, 0.5);
  const one = `${top[0]!.title} makes up ${percent(top[0]!.outer / outer)} of the time`;
  const headline =
    n === 1 ? one : `${integer(n)} behaviours make up ${percent(sum / outer)} of the time`;
  const within = percent(Math.min(1, outer / Math.max(1, lives(trace))));
  const parts = [
    `${plural(shapes.totals.clusters, 'behaviour')} in all, in ${plural(trace.threads.length, 'thread')}; complete calls of them fill ${within} of the threads\u2019 lifetimes.`,
  ];
  const first = alone[0];
  if (first)
    parts.push(`${trace.threads[first.thread]!.label} alone does ${first.behaviour.title}.`);
  parts.push(spikeWords(behaviours));
  return { headline, lead: parts.filter(Boolean).join(' '), top, alone };
}

/** Why there is nothing to show. */
export function whyNone({ totals }: Shapes): string {
  if (totals.calls + totals.cutCalls === 0) return 'No call of these threads was recorded.';
  if (totals.calls === 0)
    return 'Every call is cut by the start or the end of the trace, so none has a shape: record a longer time.';
  if (totals.shapes === 0)
    return `Only trivial calls: none of ${integer(totals.calls)} complete calls calls another. Record with instrumented callees.`;
  return 'All behaviours are too rare to be in a ribbon.';
}
