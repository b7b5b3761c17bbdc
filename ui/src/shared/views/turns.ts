// SPDX-License-Identifier: MIT
// Work in turn, a piece a frame: no frame pays for all that one answer changes.

const pieces = new Set<() => void>();
let frame = 0;

function step(): void {
  const [first] = pieces;
  frame = 0;
  if (!first) return;
  pieces.delete(first);
  if (pieces.size > 0) frame = requestAnimationFrame(step);
  first();
}

/** Runs a piece in one of the next frames; one that waits already keeps its place. */
export function inTurn(piece: () => void): void {
  pieces.add(piece);
  if (frame === 0) frame = requestAnimationFrame(step);
}

export function notInTurn(piece: () => void): void {
  pieces.delete(piece);
}
