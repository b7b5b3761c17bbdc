// SPDX-License-Identifier: MIT
// Makes a page of a bundle and data, and opens pages in the distribution's Chromium.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-device-scale-factor=1',
  '--disable-lcd-text',
];

export function writePage(json, path, dist = new URL('../../dist/', import.meta.url).pathname) {
  const data = gzipSync(Buffer.from(json)).toString('base64');
  const tag = `<script id="weft-data" type="application/octet-stream+gzip;base64">${data}</script>`;
  const frame = readFileSync(`${dist}page.html`, 'utf8');
  writeFileSync(
    path,
    frame.replace('<!--WEFT-DATA-->', () => tag),
  );
  return path;
}

export function findChromium() {
  const candidates = [process.env.WEFT_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
  return candidates.find(path => path && existsSync(path)) ?? null;
}

export async function openBrowser() {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium: install the package chromium');
  return chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, HOME: '/tmp' } });
}

/**
 * Counts and prints checks as TAP. `end` ends the process, whatever servers or pages are still open;
 * a run that takes longer than `seconds` is a failure that names the last check that ended.
 */
export function makeTap(seconds) {
  let n = 0;
  let failed = 0;
  let last = 'nothing';
  const ok = (isOk, name, detail = '') => {
    n++;
    last = name;
    if (!isOk) failed++;
    console.log(`${isOk ? 'ok' : 'not ok'} ${n} - ${name}${isOk || !detail ? '' : `: ${detail}`}`);
  };
  const end = () => {
    console.log(`1..${n}`);
    console.log(`# ${n - failed} passed, ${failed} failed`);
    process.exit(failed > 0 ? 1 : 0);
  };
  const deadline = () => {
    ok(false, `the test ended in ${seconds} s`, `it hung after: ${last}`);
    end();
  };
  setTimeout(deadline, seconds * 1000).unref();
  const threw = error => ok(false, 'the test ran to its end', error.stack.replace(/\n/g, ' '));
  return { ok, end, threw };
}
