// SPDX-License-Identifier: MIT
// What the parts of the Compare screen share.
import { createContext } from 'preact';
import type { JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { Pane, Panes } from '../../shared/draw/pane';
import { useOwnCanvas } from '../../shared/views/canvas';
import type { OwnCanvas } from '../../shared/views/canvas';
import { useAtom } from '../../shared/views/use';
import { contextOf } from './lib_compare';
import type { Condition, Executions, MetricUnit, Side } from './lib_compare';
import { lastOf, valueWords, whereOf } from './lib_d';
import type { Compare, CompareState } from './state_compare';

export interface CompareScope {
  compare: Compare;
  panes: Panes;
}

export const CompareContext = createContext<CompareScope | null>(null);

export function useCompare(): Compare {
  const scope = useContext(CompareContext);
  if (!scope) throw new Error('component outside of the Compare screen');
  return scope.compare;
}

export function useCompareState<T>(choose: (state: CompareState) => T): T {
  return useAtom(useCompare().state, choose);
}

export function useCompareCanvas(draw: (pane: Pane) => void): OwnCanvas {
  return useOwnCanvas(useContext(CompareContext)!.panes, draw);
}

export const LETTER = { a: 'A', b: 'B' } as const;

export function SideSwatch({ side }: { side: Side | 'none' }): JSX.Element {
  return <span class={`cmp-swatch cmp-${side}`} aria-hidden="true" />;
}

/** "blocked_lock" as people read it. */
export function metricWords(name: string): string {
  return name.replace(/_/g, ' ');
}

export function unitOf(executions: Executions, name: string): MetricUnit {
  return executions.metrics.find(metric => metric.name === name)?.unit ?? 'ns';
}

/** What a chart is of: a metric, or "#NODE". */
export function chartWords(executions: Executions, chart: string): string {
  if (!chart.startsWith('#')) return metricWords(chart);
  const where = whereOf(contextOf(executions, Number(chart.slice(1))));
  return `in ${lastOf(where.place) || where.state || 'context'}${where.place && where.state ? `, ${where.state}` : ''}`;
}

/** "duration < 2 ms" */
export function conditionWords(executions: Executions, one: Condition): string {
  if (one.kind === 'tag' || one.kind === 'thread') return `${one.kind} ${one.text}`;
  const unit = one.kind === 'metric' ? unitOf(executions, one.name) : 'ns';
  const what =
    one.kind === 'metric' ? metricWords(one.name) : chartWords(executions, `#${one.node}`);
  const { min, max } = one;
  if (min === -Infinity) return `${what} \u2264 ${valueWords(max, unit)}`;
  if (max === Infinity) return `${what} \u2265 ${valueWords(min, unit)}`;
  return `${what} ${valueWords(min, unit)} to ${valueWords(max, unit)}`;
}
