// SPDX-License-Identifier: MIT
// The Compare screen's questions, whatever order their answers come in.
import { expect, it } from 'vitest';
import { Refused } from '../../src/api/source';
import type { App } from '../../src/state/app';
import { Compare } from '../../src/state/compare';
import type { Served } from '../../src/state/served';

const RULES = { db: -1, type: 'x', begin: 'call:nothing', end: '', match: '', within: '' };
const PROPOSAL = {
  ...{ name: 'insert', begin: 'call:insert', end: '', match: '', within: '' },
  ...{ why: 'calls that repeat', count: 3 },
};

/** A server whose answers come when they are let go, by the question's name. */
function makeServer() {
  const waiting = new Map<
    string,
    { resolve: (value: unknown) => void; reject: (e: Error) => void }
  >();
  const ask = (name: string) =>
    new Promise<unknown>((resolve, reject) => waiting.set(name, { resolve, reject }));
  const served = { source: { json: ask, columns: ask }, hasTrace: true } as unknown as Served;
  const rest = () => new Promise(resolve => setTimeout(resolve, 0));
  return {
    compare: new Compare({} as App, served),
    answer: (name: string, value: unknown) => (waiting.get(name)!.resolve(value), rest()),
    refuse: (name: string, why: string) => (
      waiting.get(name)!.reject(new Refused(400, why)), rest()
    ),
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
    ...{ lookError: 'the server has no memory', isLooking: false, databases: null },
  });
  compare.again();
  expect(compare.state.get()).toMatchObject({ lookError: '', isLooking: true });
  await answer('traces', { databases: [] });
  await answer('types', { types: [], proposals: [PROPOSAL] });
  expect(compare.state.get()).toMatchObject({ lookError: '', isLooking: false, databases: [] });
});
