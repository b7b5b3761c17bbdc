// SPDX-License-Identifier: MIT
// The server as the page sees it: questions by name, of which each lane has one under way.
import { Atom } from '../lib/atom';
import { bare, parsePlain } from '../lib/format';
import { decodeColumns, text } from './columns';
import type { Columns, Json } from './columns';

export type Params = Record<string, string | number | readonly number[] | undefined>;

/** An answer that a newer question of its lane made superfluous. */
export class Superseded extends Error {}

/** What the server said when it could not answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

interface Link {
  isLost: boolean;
  /** Questions under way. */
  waiting: number;
}

/** Questions that are not of one trace. */
const OF_ALL = new Set(['traces', 'colors']);

const RETRY_MS = [250, 500, 1000, 2000];
const PATIENCE = 40; // a server that is started again within a minute is found again

function writeParams(params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    if (value !== undefined && value !== '')
      query.set(key, typeof value === 'object' ? value.join(',') : bare(String(value)));
  return query.toString().replace(/\+/g, '%20'); // a plus sign itself is %2B
}

async function refusal(response: Response): Promise<Refused> {
  let message = `the server answered ${response.status}`;
  try {
    const json = parsePlain(await response.text()) as { error?: Json };
    if (json.error) message = text(json.error, 'message') || message;
  } catch {
    // it gave no reason
  }
  return new Refused(response.status, message);
}

/** `answer`, unless it is given up before. */
function orGivenUp<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Superseded()));
    answer.then(resolve, reject);
  });
}

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

export class Source {
  /** False: it has the answers to some questions alone (api/inside.ts). */
  readonly isWhole: boolean = true;
  readonly link = new Atom<Link>({ isLost: false, waiting: 0 });
  private readonly lanes = new Map<string, AbortController>();
  /** Answers on their way to questions that nobody has asked yet, by address. */
  private readonly early = new Map<string, Promise<ArrayBuffer>>();

  /** `base`: the address of the page, which ends in '/'. */
  constructor(
    private readonly base: string,
    readonly trace: number,
  ) {}

  /** JSON of `name`. A `lane` gives up what was asked in it before. */
  async json(name: string, params: Params = {}, lane = ''): Promise<Json> {
    const answer = await this.ask(name, params, lane);
    return parsePlain(new TextDecoder().decode(answer)) as Json;
  }

  /** The bytes as they are: of a file that the reader keeps. */
  async bytes(name: string, params: Params = {}, lane = ''): Promise<ArrayBuffer> {
    return this.ask(name, params, lane);
  }

  async columns(name: string, params: Params = {}, lane = ''): Promise<Columns> {
    return decodeColumns(await this.ask(name, params, lane));
  }

  /** Whether there is an answer to be had. */
  has: (name: string, params?: Params) => boolean = () => true;

  /** The parameters of all answers of `name`, if they can be listed. */
  list: (name: string) => Record<string, string>[] = () => [];

  /** Asks now what will be asked: whoever does so first, with the same parameters, has the answer. */
  ahead(name: string, params: Params = {}): void {
    const answer = this.ask(name, params, '');
    answer.catch(() => undefined); // told by who asks
    this.early.set(this.address(name, params), answer);
  }

  /** Gives up what is under way in `lane`. */
  cancel(lane: string): void {
    this.lanes.get(lane)?.abort();
    this.lanes.delete(lane);
  }

  private address(name: string, params: Params): string {
    const of = OF_ALL.has(name) ? {} : { trace: this.trace };
    return `${this.base}api/${name}?${writeParams({ ...of, ...params })}`;
  }

  private async ask(name: string, params: Params, lane: string): Promise<ArrayBuffer> {
    const control = new AbortController();
    if (lane) {
      this.cancel(lane);
      this.lanes.set(lane, control);
    }
    const url = this.address(name, params);
    const early = this.early.get(url);
    this.early.delete(url);
    if (early) return orGivenUp(early, control.signal);
    this.count(1);
    try {
      return await this.get(name, params, control.signal);
    } finally {
      this.count(-1, control.signal.aborted);
    }
  }

  protected get(name: string, params: Params, signal: AbortSignal): Promise<ArrayBuffer> {
    return this.fetch(this.address(name, params), signal);
  }

  /** Asks again while the server is away or has too much to do. */
  private async fetch(url: string, signal: AbortSignal): Promise<ArrayBuffer> {
    for (let attempt = 0; ; attempt++) {
      let response: Response | null = null;
      try {
        response = await fetch(url, { signal, cache: 'no-store' });
        this.setLost(false);
        if (response.ok) return await orGivenUp(response.arrayBuffer(), signal);
      } catch (error) {
        if (signal.aborted) throw new Superseded();
        if (attempt >= PATIENCE) throw error;
        this.setLost(true);
        response = null;
      }
      if (response && (response.status !== 503 || attempt >= PATIENCE)) {
        const refused = await refusal(response);
        throw signal.aborted ? new Superseded() : refused;
      }
      await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!);
      if (signal.aborted) throw new Superseded();
    }
  }

  /** When the last question was given up, nobody looks whether the server is still away. */
  private count(by: number, isGivenUp = false): void {
    this.link.update(({ isLost, waiting }) => ({
      isLost: isLost && !(isGivenUp && waiting + by === 0),
      waiting: waiting + by,
    }));
  }

  private setLost(isLost: boolean): void {
    this.link.update(link => (link.isLost === isLost ? link : { ...link, isLost }));
  }
}

/** Runs `work`; an answer that nobody waits for any more is silence, not a failure. */
export async function unlessSuperseded(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}
