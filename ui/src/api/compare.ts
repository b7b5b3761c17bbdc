// SPDX-License-Identifier: MIT
// Answers of `types`, `executions` and `compare` (docs/http-api.md).
import type { Executions, FirstCut, Frame, Metric, MetricUnit, Source } from '../lib/compare';
import type { Compared, ComparedCause, ComparedMetric } from '../lib/compared';
import type { FrameKind } from '../lib/ecct';
import type {
  CompareCausesColumns,
  CompareDifferencesColumns,
  CompareMetricsColumns,
  ExecutionsComparedColumns,
  NodesComparedColumns,
} from '../gen/tables';
import { take, tableOf } from './columns';
import type { Columns } from './columns';
import { list, num, objects, text } from './json';
import type { Json } from './json';

/** What executions of a trace may be, as the server proposes it. */
export interface Proposal {
  name: string;
  begin: string;
  end: string;
  match: string;
  within: string;
  why: string;
  count: number;
}

export interface ExecutionType {
  name: string;
  count: number;
  unfinished: number;
}

export function decodeTypes(json: Json): { types: ExecutionType[]; proposals: Proposal[] } {
  return {
    types: objects(json, 'types').map(one => ({
      ...{ name: text(one, 'name'), count: num(one, 'count'), unfinished: num(one, 'unfinished') },
    })),
    proposals: objects(json, 'proposals').map(one => ({
      ...{ name: text(one, 'name'), begin: text(one, 'begin'), end: text(one, 'end') },
      ...{ match: text(one, 'match'), within: text(one, 'within'), why: text(one, 'why') },
      count: num(one, 'count'),
    })),
  };
}

/** The groups to begin with. */
export function decodeCut(json: Json): FirstCut {
  switch (text(json, 'by')) {
    case 'tags':
      return { by: 'tags', a: text(json, 'a'), b: text(json, 'b') };
    case 'durations':
      return { by: 'durations', aMax: num(json, 'a_max_ns'), bMin: num(json, 'b_min_ns') };
    default:
      return { by: 'nothing' };
  }
}

const KINDS = new Set<string>(['function', 'state', 'lock', 'thread']);
const UNITS = new Set<string>(['ns', 'count', 'bytes', 'number']);

function decodeFrame(json: Json): Frame {
  const kind = text(json, 'kind');
  return {
    ...{ name: text(json, 'name'), module: text(json, 'module') },
    kind: KINDS.has(kind) ? (kind as FrameKind) : 'function',
  };
}

function decodeSource(json: Json): Source {
  return {
    ...{ path: text(json, 'path'), host: text(json, 'host'), tag: text(json, 'tag') },
    trace: typeof json['trace'] === 'number' ? num(json, 'trace') : -1,
  };
}

export function decodeExecutions(columns: Columns): Executions {
  const { meta } = columns;
  const one = tableOf<ExecutionsComparedColumns>(columns, 'executions');
  const node = tableOf<NodesComparedColumns>(columns, 'nodes');
  const id = one('id');
  const metrics = objects(meta, 'metrics').map((metric, i): Metric => {
    const unit = text(metric, 'unit');
    return {
      ...{
        name: text(metric, 'name'),
        values: take<Float64Array>(columns, `metric_${i}`, 'value'),
      },
      unit: UNITS.has(unit) ? (unit as MetricUnit) : 'number',
    };
  });
  return {
    ...{ n: id.length, id, source: one('source'), tid: one('tid'), thread: one('thread') },
    ...{ start: one('start_ns'), end: one('end_ns') },
    flags: one('flags'),
    threads: list<string>(meta, 'threads').map(String),
    sources: objects(meta, 'sources').map(decodeSource),
    ...{ metrics, frames: objects(meta, 'frames').map(decodeFrame) },
    parent: node('parent'),
    frame: node('frame'),
    confidence: node('confidence'),
    damaged: num(meta, 'damaged'),
    partialRuns: num(meta, 'partial_runs'),
  };
}

export function decodeContext(columns: Columns): Float64Array {
  return take<Float64Array>(columns, 'context', 'value');
}

function decodeMetrics(columns: Columns): ComparedMetric[] {
  const real = tableOf<CompareMetricsColumns>(columns, 'metrics');
  const metric = real('metric');
  const [meanA, meanB, p50A, p50B] = [real('mean_a'), real('mean_b'), real('p50_a'), real('p50_b')];
  const [p99A, p99B, difference] = [real('p99_a'), real('p99_b'), real('difference')];
  const [low, high, p, effect] = [real('low'), real('high'), real('p'), real('effect')];
  return [...metric].map((one, i) => ({
    ...{ metric: one, meanA: meanA[i]!, meanB: meanB[i]!, p50A: p50A[i]!, p50B: p50B[i]! },
    ...{ p99A: p99A[i]!, p99B: p99B[i]!, difference: difference[i]!, low: low[i]! },
    ...{ high: high[i]!, p: p[i]!, effect: effect[i]! },
  }));
}

function decodeCauses(columns: Columns): ComparedCause[] {
  const cause = tableOf<CompareCausesColumns>(columns, 'causes');
  const [node, context] = [cause('node'), cause('context')];
  const [n, example] = [cause('n_items'), cause('example')];
  const [difference, duration] = [cause('difference_ns'), cause('duration_ns')];
  return [...node].map((one, i) => ({
    ...{ node: one, n: n[i]!, difference: difference[i]!, duration: duration[i]! },
    ...{ example: example[i]!, context: context[i]! },
  }));
}

export function decodeCompared(columns: Columns): Compared {
  const { meta } = columns;
  const real = tableOf<CompareDifferencesColumns>(columns, 'nodes');
  const node = real('node');
  return {
    ...{ nA: num(meta, 'a'), nB: num(meta, 'b'), neither: num(meta, 'neither') },
    ...{ both: num(meta, 'both'), verdict: text(meta, 'verdict') },
    isByRuns: meta['by_runs'] === true,
    nodes: {
      ...{ n: node.length, node, nA: real('n_a'), nB: real('n_b') },
      isSure: real('is_sure'),
      ...{ meanA: real('mean_a_ns'), meanB: real('mean_b_ns'), totalA: real('total_a_ns') },
      ...{ totalB: real('total_b_ns'), difference: real('difference_ns'), low: real('low_ns') },
      ...{ high: real('high_ns'), t: real('t'), p: real('p'), pAdjusted: real('p_adjusted') },
      effect: real('effect'),
    },
    ranked: take<Uint32Array>(columns, 'ranked', 'value'),
    ...{ metrics: decodeMetrics(columns), causes: decodeCauses(columns) },
    causeOf: take<Uint32Array>(columns, 'cause_of', 'value'),
    members: take<Uint8Array>(columns, 'members', 'value'),
  };
}
