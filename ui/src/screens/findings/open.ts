// SPDX-License-Identifier: MIT
// From a finding to the screens that show it: each opens on the worst execution, or on its type.
import * as act from '../../shared/state/actions';
import type { App } from '../../shared/state/app';
import { pathsOf, showInTimeline, showPaths, timelineOf } from '../../shared/state/paths';
import type { Rule } from '../../shared/state/screens';
import type { Finding, Findings } from './state';

export interface Action {
  name: string;
  key: string;
  title: string;
  run: () => void;
}

/** The time of the worst execution becomes the range on every screen, and the window, with room around it. */
function selectWorst(app: App, { worst: { span } }: Finding): void {
  const { window, crumbs } = app.state.get();
  const room = Math.max(50, (span.t1 - span.t0) * 0.5);
  act.set(app, { crumbs: [...crumbs, window], range: span, isPreview: false });
  act.setWindow(app, span.t0 - room, span.t1 + room);
}

const pickOf = (finding: Finding, thread: number) => ({
  thread,
  span: finding.worst.span,
  label: finding.isPath ? '' : `worst of ${finding.type}`,
});

export function showType(app: App, rule: Rule): void {
  app.screens.find(({ showRule }) => showRule)?.showRule?.(app, rule);
}

/** Whether a comparison of a type can be shown. */
export const hasType = ({ app, served }: Findings, rule: Rule): boolean =>
  app.screens.some(({ showRule }) => showRule) && served.source.has('compare', { ...rule });

/** Whether there is something to see of a time: a report's Overview shows calls alone. */
export const hasPicture = (app: App): boolean =>
  timelineOf(app).key === 'timeline' || app.served !== null || app.model.trace.calls > 0;

function pathAction(app: App, finding: Finding, thread: number, one: string): Action {
  const name = finding.isPath
    ? 'Critical path'
    : finding.shareOf !== ''
      ? 'Path of the worst one'
      : 'Path of the worst execution';
  const run = (): void => {
    act.set(app, { range: finding.worst.span, isPreview: false });
    showPaths(app, [pickOf(finding, thread)]);
  };
  return { name, key: 'Enter', title: `On what the time of ${one} depended`, run };
}

function timelineAction(app: App, finding: Finding, thread: number, one: string): Action {
  const run = (): void => {
    const pick = pickOf(finding, thread);
    if (pathsOf(app).has(pick)) {
      pathsOf(app).pick([pick], false);
      pathsOf(app).pin(pick);
    }
    showInTimeline(app, thread, pick.span);
  };
  return {
    name: timelineOf(app).name,
    key: 't',
    title: `All threads while ${one} took so long`,
    run,
  };
}

/** What a card leads to, the first the most useful. */
export function actionsOf(findings: Findings, finding: Finding): Action[] {
  const { app } = findings;
  const thread = findings.threadOf(finding);
  const rule = finding.isPath ? null : findings.ruleOf(finding.type);
  const waits = app.screens.find(({ showWaits }) => showWaits)?.showWaits;
  const actions: Action[] = [];
  const one = finding.isPath ? 'the thread' : 'the worst execution';
  if (thread >= 0 && pathsOf(app).has(pickOf(finding, thread)))
    actions.push(pathAction(app, finding, thread, one));
  if (thread >= 0 && hasPicture(app)) actions.push(timelineAction(app, finding, thread, one));
  if (rule && hasType(findings, rule))
    actions.push({
      name: 'Compare slow and usual',
      key: 'c',
      title: 'How the slow executions differ from the usual ones',
      run: () => showType(app, rule),
    });
  if (thread >= 0 && waits) {
    const show = (lock: string): void => {
      selectWorst(app, finding);
      waits(app, thread, lock);
    };
    actions.push({
      name: 'Interplay',
      key: 'i',
      title: `Which threads ${one} waits for`,
      run: () => show(''),
    });
    if (finding.isOfLock && finding.object !== '')
      actions.push({
        name: 'Lock',
        key: 'l',
        title: `What waits for ${finding.object}, and what holds it`,
        run: () => show(finding.object),
      });
  }
  return actions;
}
