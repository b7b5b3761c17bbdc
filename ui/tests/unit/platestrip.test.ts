// SPDX-License-Identifier: MIT
import { expect, it } from 'vitest';
import {
  bendOf,
  blend,
  columnsOfSection,
  copyBent,
  copyRows,
  inkOfCss,
  pixelOf,
  Strips,
} from '../../src/screens/interplay/plate';
import type { Section } from '../../src/screens/interplay/plate';

const WHITE = 0xffffffff;
const BLACK = 0xff000000;
const red = (pixel: number): number => pixel & 255;

it('colours become pixels', () => {
  expect(pixelOf('#123456')).toBe(0xff563412);
  expect(inkOfCss('rgba(15, 20, 26, 0.28)')).toEqual({ pixel: 0xff1a140f, alpha: 0.28 });
  expect(inkOfCss('#010203')).toEqual({ pixel: 0xff030201, alpha: 1 });
  expect(blend(WHITE, BLACK, 256)).toBe(BLACK);
  expect(blend(WHITE, BLACK, 0)).toBe(WHITE);
  expect(red(blend(WHITE, BLACK, 128))).toBe(127);
});

it('a bar covers its columns, and those at its ends in part', () => {
  const strips = new Strips([8, 4]);
  strips.fill(0, WHITE);
  strips.fill(1, WHITE);
  strips.bar(0, 1.5, 4.25, BLACK);
  strips.bar(1, -3, 99, BLACK);
  strips.bar(0, 6.25, 6.5, BLACK);
  strips.bar(0, 9, 12, BLACK); // beside it
  strips.close();
  const first = Array.from(strips.pixels.subarray(0, 9), red);
  expect(first).toEqual([255, 127, 0, 0, 191, 255, 191, 255, 255]);
  expect(Array.from(strips.pixels.subarray(9), red)).toEqual([0, 0, 0, 0, 0]);
});

it('covers as much as the bars are long, wherever they begin', () => {
  for (let k = 0; k < 200; k++) {
    const strips = new Strips([40]);
    strips.fill(0, WHITE);
    const [from, long] = [(k * 7.3) % 30, ((k * 3.7) % 9) + 0.1];
    strips.bar(0, from, from + long, BLACK);
    const sum = Array.from(strips.pixels.subarray(0, 40), red).reduce((a, b) => a + 255 - b, 0);
    expect(Math.abs(sum / 255 - long)).toBeLessThan(0.03);
  }
});

it('rows are copied within the image, the ground between them', () => {
  const strips = new Strips([3, 3]);
  strips.fill(0, BLACK);
  strips.fill(1, WHITE);
  strips.close();
  const image = new Uint32Array(5 * 6);
  copyRows(image, 5, 6, strips, { x: 1, y: 1, tops: [0], bottoms: [2], height: 9 });
  const rows = Array.from({ length: 6 }, (_, y) => Array.from(image.subarray(y * 5, y * 5 + 5)));
  const [none, bar, gap] = [
    [0, 0, 0, 0, 0],
    [0, BLACK, BLACK, BLACK, 0],
    [0, WHITE, WHITE, WHITE, 0],
  ];
  expect(rows).toEqual([none, bar, bar, gap, gap, gap]);
});

const SECTION: Section = {
  x: 60,
  y: 2,
  from: 0.3,
  to: 2.6,
  inner: [20, 34],
  outer: [33, 50],
  least: 20,
  most: 51,
};

it('what is bent stands where its time and level are', () => {
  const strips = new Strips(columnsOfSection(SECTION));
  const [width, height] = [120, 60];
  const grey = [0xff202020, 0xff606060, 0xffa0a0a0];
  grey.forEach((pixel, level) => strips.fill(level, pixel));
  strips.bar(1, 0, strips.columns[1]! / 2, BLACK); // the earlier half of the second level
  strips.close();
  const image = new Uint32Array(width * height).fill(WHITE);
  const bend = bendOf(SECTION, strips, width, height);
  copyBent(image, strips, bend, WHITE);
  const at = (angle: number, radius: number): number => {
    const [x, y] = [60 - radius * Math.cos(angle), 2 + radius * Math.sin(angle)];
    return image[Math.floor(y) * width + Math.floor(x)]!;
  };
  for (let angle = 0.4; angle < 2.5; angle += 0.05) {
    expect(at(angle, 27)).toBe(grey[0]);
    if (Math.abs(angle - 1.45) > 0.06) expect(at(angle, 42)).toBe(angle < 1.45 ? BLACK : grey[1]);
    expect(at(angle, 16)).toBe(WHITE);
    expect(at(angle, 55)).toBe(WHITE);
  }
  expect(at(0.1, 27)).toBe(WHITE);
  expect(new Set(bend.place).size).toBe(bend.place.length);
});

it('work is of pixels: as much for a million calls as for one', () => {
  const strips = new Strips(columnsOfSection(SECTION));
  const before = bendOf(SECTION, strips, 120, 60).place.length;
  for (let i = 0; i < 100000; i++) strips.bar(0, i / 2000, i / 2000 + 1, BLACK);
  strips.close();
  const bend = bendOf(SECTION, strips, 120, 60);
  expect(bend.place.length).toBe(before);
  expect(before).toBeLessThan(120 * 60);
});
