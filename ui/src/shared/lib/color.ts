// SPDX-License-Identifier: MIT
// Colour arithmetic: sRGB, luminance, CIEDE2000, and colour-vision simulation.

export type Rgb = [number, number, number];

export function parseHex(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function toHex(rgb: Rgb): string {
  return '#' + rgb.map(c => Math.round(c).toString(16).padStart(2, '0')).join('');
}

/** `share` of `a` over `b`. */
export function mix(a: string, b: string, share: number): string {
  const [x, y] = [parseHex(a), parseHex(b)];
  return toHex([0, 1, 2].map(i => x[i]! * share + y[i]! * (1 - share)) as Rgb);
}

function linear(channel: number): number {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

export function luminance(hex: string): number {
  const [r, g, b] = parseHex(hex).map(linear) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** The ink for text on a fill. */
export function inkOn(fill: string): string {
  return luminance(fill) <= 0.19 ? '#ffffff' : '#0d1013';
}

const MACHADO: Record<'protan' | 'deutan' | 'tritan', number[]> = {
  protan: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deutan: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritan: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
};
export type Vision = 'normal' | keyof typeof MACHADO;

/** How `hex` looks to an eye of that kind, in linear RGB (Machado 2009, severity 1). */
function seen(hex: string, vision: Vision): Rgb {
  const rgb = parseHex(hex).map(linear) as Rgb;
  if (vision === 'normal') return rgb;
  const m = MACHADO[vision];
  return [0, 3, 6].map(i =>
    Math.min(1, Math.max(0, m[i]! * rgb[0] + m[i + 1]! * rgb[1] + m[i + 2]! * rgb[2])),
  ) as Rgb;
}

function lab([r, g, b]: Rgb): Rgb {
  const x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
  const y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b;
  const z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883;
  const [fx, fy, fz] = [x, y, z].map(t =>
    t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116,
  ) as Rgb;
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const RAD = Math.PI / 180;

function hueOf(a: number, b: number): number {
  if (a === 0 && b === 0) return 0;
  const h = Math.atan2(b, a) / RAD;
  return h < 0 ? h + 360 : h;
}

/** CIEDE2000 between two Lab colours (Sharma, Wu, Dalal 2005). */
export function ciede2000(one: Rgb, two: Rgb): number {
  const c = (Math.hypot(one[1], one[2]) + Math.hypot(two[1], two[2])) / 2;
  const g = 0.5 * (1 - Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)));
  const [a1, a2] = [one[1] * (1 + g), two[1] * (1 + g)];
  const [c1, c2] = [Math.hypot(a1, one[2]), Math.hypot(a2, two[2])];
  const [h1, h2] = [hueOf(a1, one[2]), hueOf(a2, two[2])];
  const dL = two[0] - one[0];
  const dC = c2 - c1;
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh * RAD) / 2);
  const L = (one[0] + two[0]) / 2;
  const C = (c1 + c2) / 2;
  let h = h1 + h2;
  if (c1 * c2 !== 0) {
    if (Math.abs(h1 - h2) > 180) h += h < 360 ? 360 : -360;
    h /= 2;
  }
  const t =
    1 -
    0.17 * Math.cos((h - 30) * RAD) +
    0.24 * Math.cos(2 * h * RAD) +
    0.32 * Math.cos((3 * h + 6) * RAD) -
    0.2 * Math.cos((4 * h - 63) * RAD);
  const sL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2);
  const sC = 1 + 0.045 * C;
  const sH = 1 + 0.015 * C * t;
  const turn = 60 * Math.exp(-(((h - 275) / 25) ** 2));
  const r = -Math.sin(turn * RAD) * 2 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7));
  const [l, k, w] = [dL / sL, dC / sC, dH / sH];
  return Math.sqrt(l * l + k * k + w * w + r * k * w);
}

export function difference(a: string, b: string, vision: Vision): number {
  return ciede2000(lab(seen(a, vision)), lab(seen(b, vision)));
}
