// SPDX-License-Identifier: MIT
// A value that tells its listeners when it changes.

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
