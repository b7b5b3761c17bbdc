// SPDX-License-Identifier: MIT
// Makes a page of a bundle and data, and opens pages in the distribution's Chromium.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { adverse } from './adverse.mjs';

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

/** How long a test waits for what must come, on a machine that others use too. */
export const PATIENCE_MS = 90000;

export function writePage(json, path, dist = new URL('../../dist/', import.meta.url).pathname) {
  const data = gzipSync(Buffer.from(json), { level: 1 }).toString('base64');
  const tag = `<script id="weft-data" type="application/octet-stream+gzip;base64">${data}</script>`;
  const frame = readFileSync(`${dist}page.html`, 'utf8');
  writeFileSync(
    path,
    frame.replace('<!--WEFT-DATA-->', () => tag),
  );
  return path;
}

export function findChromium() {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser'];
  const candidates = [process.env.WEFT_CHROMIUM, ...names.map(name => `/usr/bin/${name}`)];
  return candidates.find(path => path && existsSync(path)) ?? null;
}

export async function openBrowser() {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium: install the package chromium-headless-shell');
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

/**
 * Counts, in the page, what it has yet to do: short timers, frames asked for, requests under way.
 * Long timers (over a second) are for later.
 */
function watch() {
  const pending = { timers: new Set(), frames: new Set(), requests: 0 };
  const own = {
    timer: window.setTimeout.bind(window),
    noTimer: window.clearTimeout.bind(window),
    frame: window.requestAnimationFrame.bind(window),
    noFrame: window.cancelAnimationFrame.bind(window),
    fetch: window.fetch.bind(window),
  };
  window.setTimeout = (run, ms = 0, ...rest) => {
    const id = own.timer(() => {
      pending.timers.delete(id);
      run(...rest);
    }, ms);
    if (ms < 1000) pending.timers.add(id);
    return id;
  };
  window.clearTimeout = id => {
    pending.timers.delete(id);
    own.noTimer(id);
  };
  window.requestAnimationFrame = run => {
    const id = own.frame(time => {
      pending.frames.delete(id);
      run(time);
    });
    pending.frames.add(id);
    return id;
  };
  window.cancelAnimationFrame = id => {
    pending.frames.delete(id);
    own.noFrame(id);
  };
  const during = async work => {
    pending.requests++;
    try {
      return await work();
    } finally {
      pending.requests--;
    }
  };
  window.fetch = async (...what) => {
    const answer = await during(() => own.fetch(...what));
    for (const read of ['arrayBuffer', 'json', 'text']) {
      const how = answer[read].bind(answer);
      answer[read] = () => during(how);
    }
    return answer;
  };
  const rests = () =>
    pending.timers.size === 0 && pending.frames.size === 0 && pending.requests === 0;
  window.weftAtRest = async patience => {
    const until = performance.now() + patience;
    for (let calm = 0; calm < 3; calm = rests() ? calm + 1 : 0) {
      if (performance.now() > until) return false;
      await new Promise(resolve => own.timer(resolve, 4));
    }
    return true;
  };
}

/** Lets a page come to rest after each key and click, so that no test looks too early. */
function calm(page) {
  const after = (object, name) => {
    const act = object[name].bind(object);
    object[name] = async (...what) => {
      const done = await act(...what);
      if (await page.evaluate(() => Boolean(window.weftReady))) await settle(page); // else it is no page of ours
      return done;
    };
  };
  for (const name of ['goBack', 'goForward', 'reload']) after(page, name);
  for (const name of ['click', 'dblclick', 'up']) after(page.mouse, name);
  after(page.keyboard, 'press');
}

/** A context whose pages tell when they have nothing left to do. */
export async function newContext(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(watch);
  await adverse(context);
  context.on('page', calm);
  return context;
}

/** Waits until the page has nothing left to do and is painted; at most so long. Other pages are at rest. */
export async function settle(page, patience_ms = 15000) {
  const isAtRest = await page.evaluate(async patience => {
    if (!window.weftReady) throw new Error('the page did not start');
    await window.weftReady;
    const isDone = await window.weftAtRest(patience);
    const { stage } = await window.weftReady;
    const rest = new Promise(resolve => setTimeout(resolve, 3000, 'late'));
    const how = await Promise.race([stage?.idle(), rest]); // a picture that is no longer shown paints nothing
    return isDone && how !== 'late';
  }, patience_ms);
  if (!isAtRest) console.log(`# the page did not come to rest in ${patience_ms / 1000} s`);
}

/** A page at `url`, and what goes wrong in it: errors, and requests that `isAllowed` does not admit. */
export async function openAt(browser, url, isAllowed, options = {}) {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const trouble = [];
  page.on('console', message => message.type() === 'error' && trouble.push(message.text()));
  page.on('pageerror', error => trouble.push(error.message));
  page.on('request', request => {
    if (!isAllowed(request.url())) trouble.push(`request ${request.url()}`);
  });
  await page.goto(url);
  await page.evaluate(() => window.weftReady.then(() => true));
  return { page, context, trouble };
}

/** A file, which loads nothing. */
export const openFile = (browser, path, options = {}, fragment = '') =>
  openAt(browser, `file://${path}${fragment}`, url => /^(file|data|blob):/.test(url), options);

/** The address, once it says what the page shows. */
export async function fragmentOf(page) {
  await settle(page);
  return page.evaluate(() => location.hash);
}
