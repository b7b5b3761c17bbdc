// SPDX-License-Identifier: MIT
// The Compare screen's questions, whatever order their answers come in.
import { expect, it } from 'vitest';
import { Compare } from '../../src/screens/compare/state';
import type { App } from '../../src/shared/state/app';
import { pack } from '../fixtures/columns';
import { makeExecutions } from '../fixtures/executions';
import { HeldSource, makeServed } from '../fixtures/served';

const RULES = { db: -1, type: 'x', begin: 'call:nothing', end: '', match: '', within: '' };
const PROPOSAL = {
  name: 'insert',
  begin: 'call:insert',
  end: '',
  match: '',
  within: '',
  why: 'calls that repeat',
  count: 3,
};

function makeServer() {
  const source = new HeldSource();
  return {
    source,
    compare: new Compare({} as App, makeServed(source)),
    answer: (name: string, value: unknown) => source.answer(name, value),
    refuse: (name: string, why: string) => source.refuse(name, why),
  };
}

it('a refusal stays, though what there is to compare is asked after it came', async () => {
  const { compare, answer, refuse } = makeServer();
  compare.choose(RULES);
  await refuse('executions', 'nothing is called nothing');
  compare.begin();
  expect(compare.state.get()).toMatchObject({ error: 'nothing is called nothing', waiting: '' });
  await answer('traces', { databases: [] });
  await answer('types', { types: [], proposals: [PROPOSAL] });
  expect(compare.state.get()).toMatchObject({ error: 'nothing is called nothing' });
  expect(compare.state.get().proposals).toHaveLength(1);
});

it('executions are waited for, though it is known what there is to compare', async () => {
  const { compare, answer } = makeServer();
  compare.choose(RULES);
  compare.begin();
  await answer('traces', { databases: [] });
  expect(compare.state.get()).toMatchObject({ waiting: 'executions', isLooking: true });
  await answer('types', { types: [], proposals: [] });
  expect(compare.state.get()).toMatchObject({ waiting: 'executions', isLooking: false });
});

it('what cannot be looked for is told, and asked again', async () => {
  const { compare, answer, refuse } = makeServer();
  compare.begin();
  await refuse('traces', 'the server has no memory');
  expect(compare.state.get()).toMatchObject({
    lookError: 'the server has no memory',
    isLooking: false,
    databases: null,
  });
  compare.again();
  expect(compare.state.get()).toMatchObject({ lookError: '', isLooking: true });
  await answer('traces', { databases: [] });
  await answer('types', { types: [], proposals: [PROPOSAL] });
  expect(compare.state.get()).toMatchObject({ lookError: '', isLooking: false, databases: [] });
});

const OTHER = { ...RULES, type: 'y' };

/** Of a subject with 20 executions, of which contexts and comparisons can be asked. */
function makeChosen() {
  const own = makeServer();
  own.compare.choose(RULES);
  own.compare.set({ executions: makeExecutions(20), waiting: '' });
  return own;
}

it('no answer about the executions before is shown of others', async () => {
  const { compare, source } = makeChosen();
  compare.setGroups({ a: [], b: [] }, true); // asks for a draft at once
  compare.contextValues(3);
  const values = {
    meta: {},
    tables: new Map([['context', pack({ value: new Float64Array(20) })]]),
  };
  const [context] = source.asked.filter(({ params }) => params['node'] === 3);
  expect(source.names()).toEqual(['compare', 'executions', 'executions']);
  compare.choose(OTHER);
  expect(source.names()).toEqual(['executions', 'executions']); // the comparison is given up
  context!.resolve(values as never);
  await new Promise(resolve => setTimeout(resolve, 0));
  source.asked.splice(source.asked.indexOf(context!), 1);
  compare.set({ executions: makeExecutions(30) });
  expect(compare.contextValues(3)).toBeNull(); // and its own are asked for
  expect(source.asked.at(-1)!.params).toMatchObject({ type: 'y', node: 3 });
});

it('a context that is refused is told, whatever else is compared', async () => {
  const { compare, source } = makeChosen();
  compare.contextValues(3);
  compare.setGroups({ a: [], b: [] }, true);
  source.asked.find(({ params }) => params['node'] === 3)!.reject(new Error('no such context'));
  await new Promise(resolve => setTimeout(resolve, 0));
  expect(compare.state.get()).toMatchObject({
    contextError: 'no such context',
    error: '',
    waiting: 'compare',
  });
  compare.setGroups({ a: [], b: [] }, true);
  expect(compare.state.get().contextError).toBe('no such context');
  compare.again();
  expect(compare.state.get().contextError).toBe('');
  expect(source.asked.at(-1)!.params).toMatchObject({ node: 3 });
});

it('an address keeps its groups until the executions are there', () => {
  const { compare } = makeServer();
  compare.choose(RULES);
  compare.want(key => (key === 'A' ? 'tag.new' : ''));
  expect(compare.wantedPlace()).toEqual([['A', 'tag.new']]);
  compare.choose(OTHER); // by hand: they are of other executions
  expect(compare.wantedPlace()).toEqual([]);
});
