// SPDX-License-Identifier: MIT
// What a part of the page keeps with something that it does not define: with the app, its state; with
// a model, what it computed from that. It goes when its holder goes.

export interface Holder {
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
