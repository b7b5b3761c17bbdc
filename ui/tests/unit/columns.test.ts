// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import { decodeColumns, take } from '../../src/shared/api/columns';

/** As the server writes them: magic, header bytes, header, columns at multiples of 8. */
function encode(header: object, ...columns: ArrayBufferView[]): ArrayBuffer {
  let text = JSON.stringify(header);
  while (text.length % 8 !== 0) text += ' ';
  const parts = columns.map(({ buffer, byteLength }) => new Uint8Array(buffer, 0, byteLength));
  const size = parts.reduce((sum, { length }) => sum + Math.ceil(length / 8) * 8, 8 + text.length);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x43544657, true);
  view.setUint32(4, text.length, true);
  bytes.set(new TextEncoder().encode(text), 8);
  let at = 8 + text.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += Math.ceil(part.length / 8) * 8;
  }
  return bytes.buffer;
}

const header = {
  pixel_ns: 7,
  tables: [
    { name: 'threads', rows: 1, columns: [{ name: 'id', type: 'u8' }] },
    {
      name: 'items',
      rows: 3,
      columns: [
        { name: 'depth', type: 'u16' },
        { name: 'start_ns', type: 'f64' },
      ],
    },
  ],
};
const whole = encode(
  header,
  new Uint8Array([4]),
  new Uint16Array([1, 2, 3]),
  new Float64Array([0, 2 ** 53, 1.5]),
);

it('gives columns in place', () => {
  const columns = decodeColumns(whole);
  expect(columns.meta['pixel_ns']).toBe(7);
  expect([...take<Uint8Array>(columns, 'threads', 'id')]).toEqual([4]);
  expect([...take<Uint16Array>(columns, 'items', 'depth')]).toEqual([1, 2, 3]);
  expect([...take<Float64Array>(columns, 'items', 'start_ns')]).toEqual([0, 2 ** 53, 1.5]);
  expect(() => take(columns, 'items', 'end_ns')).toThrow('items lacks end_ns');
});

it('refuses what is cut anywhere, and what is something else', () => {
  for (let n = 0; n < whole.byteLength; n++)
    expect(() => decodeColumns(whole.slice(0, n)), `cut at ${n}`).toThrow();
  expect(() => decodeColumns(new ArrayBuffer(64))).toThrow('holds no columns');
  const odd = { tables: [{ name: 'a', rows: 1, columns: [{ name: 'b', type: 'i64' }] }] };
  expect(() => decodeColumns(encode(odd, new Float64Array(1)))).toThrow('no type is called i64');
});
