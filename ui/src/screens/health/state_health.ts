// SPDX-License-Identifier: MIT
// What the Health screen and the badge know: asked for once, when the page opens.
import { list, num, object, objects, text } from '../../shared/api/json';
import type { Json } from '../../shared/api/json';
import { Superseded } from '../../shared/api/source';
import { Atom } from '../../shared/lib/atom';
import type { Served } from '../../shared/state/served';
import type { HealthClass, Info } from './lib_health';

/** Of what a server computes ahead of any question. */
export interface Ahead {
  name: string;
  state: string;
  share: number;
}

export interface HealthState {
  info: Info | null;
  error: string;
  ahead: Ahead[];
}

const orNull = (json: Json, key: string): number | null =>
  typeof json[key] === 'number' ? num(json, key) : null;

const CLASSES: readonly HealthClass[] = ['lost', 'repaired', 'info'];

export function decodeInfo(json: Json): Info {
  const clock = object(json, 'clock');
  return {
    ...{
      source: text(json, 'source'),
      format: text(json, 'format'),
      details: text(json, 'details'),
    },
    ...{ duration: num(json, 'duration_ns'), calls: num(json, 'calls') },
    ...{ cutCalls: num(json, 'cut_calls'), functions: num(json, 'functions') },
    ...{ unnamed: num(json, 'unnamed_functions'), events: num(json, 'events') },
    ...{ lost: json['lost'] === null ? null : num(json, 'lost'), repaired: num(json, 'repaired') },
    ...{ isRecovered: json['recovered'] === true, lostBytes: num(json, 'lost_bytes') },
    ...{ bytesIn: num(json, 'bytes_in'), bytesOut: num(json, 'bytes_out') },
    clock: {
      ...{ frequencyHz: num(clock, 'frequency_hz'), zeroTicks: num(clock, 'zero_ticks') },
      ...{ monotonicNs: orNull(clock, 'monotonic_ns'), realtimeNs: orNull(clock, 'realtime_ns') },
    },
    notes: objects(json, 'notes').map(note => ({
      class: CLASSES.find(one => one === text(note, 'class')) ?? 'info',
      ...{ kind: text(note, 'kind'), count: num(note, 'count'), threads: num(note, 'threads') },
      ...{ firstOffset: orNull(note, 'first_offset'), text: text(note, 'text') },
      detail: text(note, 'detail'),
    })),
    threads: list<Json>(json, 'thread_list').map(thread => ({
      ...{ tid: num(thread, 'tid'), name: text(thread, 'name'), calls: num(thread, 'calls') },
      cutCalls: num(thread, 'cut_calls'),
    })),
  };
}

const AHEAD = ['regtime', 'functions', 'shapes'] as const;

export class Health {
  readonly state = new Atom<HealthState>({ info: null, error: '', ahead: [] });
  private isAsked = false;

  constructor(private readonly served: Served) {}

  /** Asks for the facts, unless they are there or on their way. */
  ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      const info = decodeInfo(await this.served.source.json('info'));
      this.state.update(now => ({ ...now, info, error: '' }));
    } catch (error) {
      this.isAsked = false;
      const why = error instanceof Error ? error.message : String(error);
      this.state.update(now => ({ ...now, error: why }));
    }
  }

  /** How far the server is with what it computes ahead. */
  async look(): Promise<void> {
    const look = Promise.all(
      AHEAD.map(async name => {
        const json = await this.served.source.json('progress', { of: name }, `health.${name}`);
        const total = num(json, 'total');
        return {
          name,
          state: text(json, 'state'),
          share: total > 0 ? num(json, 'done') / total : 0,
        };
      }),
    );
    const before = this.state.get().ahead;
    const ahead = await look.catch((error: unknown) => (error instanceof Superseded ? before : []));
    this.state.update(now => ({ ...now, ahead }));
  }
}
