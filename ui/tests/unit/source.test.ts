// SPDX-License-Identifier: MIT
import { afterEach, expect, it, vi } from 'vitest';
import { Refused, Source, Superseded, unlessSuperseded } from '../../src/shared/api/source';

type Answer = (url: string, signal: AbortSignal) => Promise<Response>;

function serve(answer: Answer): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (url: string, { signal }: { signal: AbortSignal }) => {
    asked.push(url);
    return answer(url, signal);
  });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('asks by name, and leaves out what is not said', async () => {
  const asked = serve(() => Promise.resolve(new Response('{"a":1}')));
  const source = new Source('/token/', 2);
  expect(await source.json('lod', { from: 5, to: undefined, threads: [1, 2] })).toEqual({ a: 1 });
  expect(asked).toEqual(['/token/api/lod?trace=2&from=5&threads=1%2C2']);
  expect(source.link.get()).toEqual({ isLost: false, waiting: 0 });
});

it('gives up what a newer question of its lane made superfluous', async () => {
  serve(
    (url, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        if (url.includes('n=2')) resolve(new Response('{}'));
      }),
  );
  const source = new Source('/', 0);
  const first = source.json('lod', { n: 1 }, 'view');
  const second = source.json('lod', { n: 2 }, 'view');
  await expect(first).rejects.toBeInstanceOf(Superseded);
  expect(await second).toEqual({});
  await unlessSuperseded(Promise.reject(new Superseded()));
  await expect(unlessSuperseded(Promise.reject(new Error('x')))).rejects.toThrow('x');
});

it('says why the server refused', async () => {
  serve(() =>
    Promise.resolve(new Response('{"error":{"message":"width is missing"}}', { status: 400 })),
  );
  const failed = new Source('/', 0).json('lod');
  await expect(failed).rejects.toThrow('width is missing');
  await expect(failed).rejects.toBeInstanceOf(Refused);
});

it('finds a server again that was away, and waits for one that is busy', async () => {
  vi.useFakeTimers();
  let n = 0;
  serve(() => {
    n++;
    if (n === 1) return Promise.reject(new TypeError('connection refused'));
    return Promise.resolve(n === 2 ? new Response('', { status: 503 }) : new Response('{"n":3}'));
  });
  const source = new Source('/', 0);
  const lost: boolean[] = [];
  source.link.subscribe(link => lost.push(link.isLost));
  const answer = source.json('info');
  await vi.advanceTimersByTimeAsync(5000);
  expect(await answer).toEqual({ n: 3 });
  expect(lost).toContain(true);
  expect(source.link.get().isLost).toBe(false);
});

it('gives up an answer that was on its way before it was asked for', async () => {
  let send: (answer: Response) => void = () => undefined;
  serve(url =>
    url.includes('n=1')
      ? new Promise(resolve => (send = resolve))
      : Promise.resolve(new Response('{}')),
  );
  const source = new Source('/', 0);
  source.ahead('interplay', { n: 1 });
  const first = source.json('interplay', { n: 1 }, 'lane');
  const second = source.json('interplay', { n: 2 }, 'lane');
  const given = expect(first).rejects.toBeInstanceOf(Superseded);
  expect(await second).toEqual({});
  send(new Response('{"late":1}'));
  await given;
});

it('looks no more for a server that nobody asks', async () => {
  vi.useFakeTimers();
  serve(() => Promise.reject(new TypeError('connection refused')));
  const source = new Source('/', 0);
  const asked = source.json('lod', {}, 'view');
  const given = expect(asked).rejects.toBeInstanceOf(Superseded);
  await vi.advanceTimersByTimeAsync(100);
  expect(source.link.get().isLost).toBe(true);
  source.cancel('view');
  await vi.advanceTimersByTimeAsync(1000);
  await given;
  expect(source.link.get()).toEqual({ isLost: false, waiting: 0 });
});
