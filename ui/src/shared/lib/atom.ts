// SPDX-License-Identifier: MIT
// A value with listeners; and what a part of the page keeps with its app or model.

export class Atom<T> {
  private listeners = new Set<(value: T, before: T) => void>();
  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    const before = this.value;
    this.value = value;
    for (const listener of [...this.listeners]) listener(value, before);
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  subscribe(listener: (value: T, before: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/* ---- What a part of the page keeps with something that it does not define: with the app, its state; with
 * a model, what it computed from that. It goes when its holder goes. ---- */

interface Holder {
  readonly own: Map<string, unknown>;
}

export class Own<H extends Holder, T> {
  /** `name` is one for each kind of holder. */
  constructor(
    readonly name: string,
    private readonly make: (holder: H) => T,
  ) {}

  /** Made when it is asked for first. */
  of(holder: H): T {
    if (!holder.own.has(this.name)) holder.own.set(this.name, this.make(holder));
    return holder.own.get(this.name) as T;
  }
}
