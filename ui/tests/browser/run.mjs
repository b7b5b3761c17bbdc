// SPDX-License-Identifier: MIT
// The page in a headless browser. usage: node run.mjs [PAGE.html]
// Without a page it makes some from synthetic data and dist/ (`npm run build`). Prints TAP; the exit
// status is 0 when all passed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeData, withIdle } from '../fixtures/make.mjs';
import { testCompare } from './compare.mjs';
import { testFunctions } from './functions.mjs';
import { testInterplay } from './interplay.mjs';
import {
  findChromium,
  fragmentOf,
  makeTap,
  newContext,
  openBrowser,
  openFile,
  PATIENCE_MS,
  settle,
  writePage,
} from './page.mjs';
import { durations, folding, pinning, recalling } from './patterns.mjs';
import { timelineTests } from './timeline.mjs';

const { ok, end, threw } = makeTap(561);

/** A page that weft wrote opens on its findings, which report.mjs tests. */
const OVERVIEW = '#v=1&s=1';

const open = (browser, path, options = {}, fragment = OVERVIEW) =>
  openFile(browser, path, options, fragment);

/** The middle of a painted item, in page coordinates, and what it is. */
const wideItem = page =>
  page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    const area = document.querySelector('.area').getBoundingClientRect();
    const kinds = thread => app.model.trace.threads[thread].rows.kind;
    const hit = stage
      .hits()
      .filter(
        h =>
          kinds(h.thread)[h.row] === 0 && h.x1 - h.x0 > 60 && h.y1 < area.height - 10 && h.y0 > 2,
      )
      .find(h => {
        const at = stage.hit((h.x0 + h.x1) / 2, h.y1 - 3);
        return at && at.row === h.row && at.thread === h.thread;
      });
    const { rows } = app.model.trace.threads[hit.thread];
    const name = app.model.trace.functions.name[rows.fn[hit.row]];
    return {
      x: area.left + (hit.x0 + hit.x1) / 2,
      y: area.top + hit.y1 - 3,
      name,
      area: area.toJSON(),
    };
  });

const stateOf = page =>
  page.evaluate(async () => {
    const { app } = await window.weftReady;
    const s = app.state.get();
    return {
      window: s.window,
      range: s.range,
      item: s.item,
      crumbs: s.crumbs.length,
      query: s.query,
      isRegime: s.isRegime,
      isFiltered: s.isFiltered,
      family: s.family,
    };
  });

async function facts(page) {
  const text = await page.textContent('body');
  const trace = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { trace } = app.model;
    return { name: trace.name, threads: trace.threads.length, calls: trace.calls };
  });
  ok(text.includes(trace.name), 'names the trace');
  ok(text.includes(trace.calls.toLocaleString('en-US')), 'says how many calls');
  ok((await page.locator('.story .headline').textContent()).length > 10, 'has a headline');
  ok(text.includes('Omitted:'), 'says what was left out');
  const labels = await page.locator('.rows .label').count();
  ok(labels > 0, 'shows rows');
  const painted = await page.evaluate(async () => {
    await window.weftReady;
    const canvas = document.querySelector('.area canvas');
    const data = canvas
      .getContext('2d')
      .getImageData(0, 0, canvas.width, Math.min(canvas.height, 200)).data;
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4)
      colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return colors.size;
  });
  ok(painted > 4, 'paints rows', `${painted} colours`);
}

async function pointing(page) {
  const item = await wideItem(page);
  await page.mouse.move(item.x, item.y);
  const tip = page.locator('.tip');
  await tip.waitFor({ timeout: PATIENCE_MS });
  ok((await tip.textContent()).includes(item.name), 'hover names the call', item.name);
  const delay = await page.evaluate(async ({ x, y }) => {
    const { app } = await window.weftReady;
    const area = document.querySelector('.area');
    area.dispatchEvent(new PointerEvent('pointerleave'));
    const started = performance.now();
    area.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }));
    while (!document.querySelector('.tip') && performance.now() - started < 5000)
      await new Promise(resolve => setTimeout(resolve, 1));
    void app;
    return performance.now() - started;
  }, item);
  ok((await tip.count()) === 1, 'and so it does when the pointer comes again');
  console.log(`# the tool-tip came after ${delay.toFixed(1)} ms`);
  await page.mouse.click(item.x, item.y);
  await settle(page);
  ok(
    (await page.locator('.facts .title').textContent()).includes(item.name),
    'click keeps the call',
  );
  ok((await page.locator('#said').textContent()).includes(item.name), 'the call is announced');
  await page.mouse.move(5, 5);
  ok((await stateOf(page)).item !== null, 'it stays when the pointer leaves');
  ok(/item=t\d+\.\d+/.test(await fragmentOf(page)), 'the address names it');
  await page.keyboard.press('Escape');
  ok((await stateOf(page)).item === null, 'Esc clears it');
}

async function ranges(page) {
  const { area } = await wideItem(page);
  await page.mouse.move(area.left + 200, area.top + 80);
  await page.mouse.down();
  await page.mouse.move(area.left + 300, area.top + 80, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const { range } = await stateOf(page);
  ok(range !== null && range.t1 > range.t0, 'drag selects a range');
  ok(
    (await page.locator('.panel .interval h2').first().textContent()).includes(
      'what each thread did then',
    ),
    'the panel obeys it',
  );
  ok((await page.locator('.panel tbody tr').count()) > 0, 'with a row for each thread');
  await page.keyboard.press('z');
  const zoomed = await stateOf(page);
  ok(
    zoomed.crumbs === 1 && Math.abs(zoomed.window.t1 - range.t1) < 2,
    'z zooms to it, with a crumb',
  );
  ok((await fragmentOf(page)).includes('w='), 'the address has the window');
  await page.keyboard.press('Backspace');
  ok((await stateOf(page)).crumbs === 0, 'Backspace goes back');
  await page.keyboard.press('Escape');
}

async function keyboard(page) {
  await page.locator('#chart').focus();
  const seen = new Set();
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft']) {
    await page.keyboard.press(key);
    seen.add(await page.locator('#said').textContent());
  }
  ok(seen.size >= 3, 'arrows walk items', [...seen].join(' | '));
  const before = (await stateOf(page)).window;
  await page.keyboard.press('KeyW');
  const after = (await stateOf(page)).window;
  ok(after.t1 - after.t0 < before.t1 - before.t0, 'w zooms in');
  await page.keyboard.press('KeyD');
  ok((await stateOf(page)).window.t0 > after.t0, 'd pans');
  await page.keyboard.press('Home');
  ok((await stateOf(page)).window.t0 === 0, '0 shows the whole trace');
  await page.keyboard.press('t');
  ok((await stateOf(page)).isRegime, 't switches to regime time');
  await settle(page);
  await page.keyboard.press('t');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  ok(await page.locator('.help').isVisible(), '? opens help');
  await page.keyboard.press('Escape');
  ok((await page.locator('.help').count()) === 0, 'Esc closes it');
}

async function searching(page) {
  const name = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { rows } = app.model.trace.threads.find(t => t.rows.n > 3);
    return app.model.trace.functions.name[rows.fn.find(fn => fn >= 0)];
  });
  await page.keyboard.press('/');
  await page.keyboard.type(`fn:${name.toUpperCase()}`);
  ok(
    /\d+ rows? in \d+ threads?/.test(await page.locator('.hits').textContent()),
    'search counts hits, whatever the case',
  );
  ok((await page.locator('.suggest li').count()) > 0, 'search proposes functions');
  await page.keyboard.press('Enter');
  ok((await stateOf(page)).item !== null, 'Enter goes to the first hit');
  await page.locator('#chart').focus();
  await page.keyboard.press('h');
  ok((await stateOf(page)).isFiltered, 'h shows only threads with hits');
  ok(
    (await page.locator('.crumbs').textContent()).includes('Only threads with'),
    'and leaves a crumb',
  );
  await page.keyboard.press('h');
  await page.fill('#search', '/(/');
  ok(
    (await page.locator('.hits').textContent()).includes('not a regular expression'),
    'a broken expression is explained',
  );
  await page.fill('#search', '');
  await page.locator('#chart').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Escape');
}

async function panels(page) {
  await page.locator('.legend .entry').first().click();
  ok((await stateOf(page)).family === 0, 'the legend highlights');
  await page.locator('.legend .entry').first().click();
  await page.locator('.story table.fixed .row-link').first().click();
  ok((await stateOf(page)).item !== null, 'one click goes to an outlier');
  await page.keyboard.press('Escape');
  await page.locator('#chart').focus();
  await page.keyboard.press('Home');
  await page.click('header button:has-text("Threads")');
  const boxes = page.locator('.drawer.threads input[type=checkbox]');
  const all = await boxes.count();
  await boxes.first().check();
  await page.click('text=Hide ticked');
  await page.keyboard.press('Escape');
  ok(
    (await page.locator('.crumbs').textContent()).includes('1 thread hidden'),
    'threads can be hidden, with a crumb',
    `${all}`,
  );
  await page.click('.crumbs >> text=hidden');
  ok(!(await page.locator('.crumbs').textContent()).includes('hidden'), 'and shown again');
}

/** The middle of a painted bar of a ribbon, in page coordinates, and whose it is. */
const wideBar = page =>
  page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    const area = document.querySelector('.area').getBoundingClientRect();
    for (const lane of stage.painted())
      for (const bar of lane.bars)
        if (bar.x1 - bar.x0 > 6 && bar.x1 < area.width && lane.y0 > 2 && lane.y1 < area.height - 4)
          return {
            x: area.left + (bar.x0 + bar.x1) / 2,
            y: area.top + lane.y1 - 1,
            title: app.model.behaviours.list[bar.cluster].title,
            cluster: bar.cluster,
          };
    return null;
  });

const patternState = page =>
  page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { screen } = app.state.get();
    const { cluster, chosen, over, hasMarks, drawing } = app.own.get('patterns').get();
    return { screen, cluster, chosen, over, hasMarks, drawing };
  });

async function patterns(page) {
  await page.locator('#chart').focus();
  await page.keyboard.press('3');
  await settle(page);
  ok((await patternState(page)).screen === 'patterns', '3 shows Patterns');
  ok((await fragmentOf(page)).includes('s=3'), 'the address says so');
  ok(
    (await page.locator('.story .headline').textContent()).length > 10,
    'Patterns begins with a sentence',
  );
  ok((await page.textContent('.totals')).includes('Resolution'), 'it says how fine it is');
  const bar = await wideBar(page);
  ok(bar !== null, 'ribbons are painted');
  await page.mouse.move(bar.x, bar.y);
  const tip = page.locator('.tip');
  await tip.waitFor({ timeout: PATIENCE_MS });
  ok((await tip.textContent()).includes(bar.title), 'hover names the behaviour', bar.title);
  ok((await patternState(page)).over === bar.cluster, 'and highlights it everywhere');
  await page.mouse.click(bar.x, bar.y);
  await settle(page);
  ok(
    (await page.locator('.facts .title').textContent()).includes(bar.title),
    'click keeps the occurrence',
  );
  ok((await page.locator('#said').textContent()).includes(bar.title), 'it is announced');
  ok((await page.locator('tr.now').count()) === 1, 'its row of the table is selected');
  ok(/occ=t\d+\./.test(await fragmentOf(page)), 'the address names the occurrence');
  await page.locator('#chart').focus();
  const before = JSON.stringify((await patternState(page)).chosen);
  await page.keyboard.press('.');
  const places = await page.evaluate(async cluster => {
    const { app } = await window.weftReady;
    const ribbons = app.model.behaviours.shapes.threads.flatMap(t => t?.ribbons ?? []);
    return ribbons.reduce((n, r) => n + r.cluster.filter(c => c === cluster).length, 0);
  }, bar.cluster);
  const isElsewhere = JSON.stringify((await patternState(page)).chosen) !== before;
  ok(isElsewhere === places > 1, '. goes to the next place', `${places} places`);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  ok((await patternState(page)).chosen !== null, 'arrows walk runs and ribbons');
  await page.keyboard.press('o');
  ok(!(await patternState(page)).hasMarks, 'o hides spikes and drops');
  await page.keyboard.press('o');
  await page.locator('#c0 .row-link').click();
  await page.locator('.facts .tools button').first().click();
  await settle(page);
  ok((await patternState(page)).chosen.how === 'typical', 'the typical occurrence is a click away');
  await page.locator('table.clusters thead button:has-text("max")').click();
  const marks = await page.locator('table.clusters th[aria-sort]').allTextContents();
  ok(marks.length === 1 && marks[0].startsWith('max'), 'the table sorts', marks.join());
  const name = bar.title.split(' ')[0];
  await page.fill('#search', `fn:${name}`);
  ok(
    /\d+ behaviours? in \d+ threads?/.test(await page.locator('.hits').textContent()),
    'search finds behaviours',
  );
  await page.fill('#search', '');
  await accessible(page);
  await page.locator('#chart').focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await page.keyboard.press('Home');
  await page.keyboard.press('1');
  await settle(page);
  ok((await patternState(page)).screen === 'overview', '1 goes back to the Overview');
}

/** Two shapes side by side, from the keyboard and with the mouse. */
async function comparing(page) {
  await page.locator('#chart').focus();
  await page.keyboard.press('3');
  await settle(page);
  await page.keyboard.press('Alt+a');
  ok(
    (await page.locator('#said').textContent()).includes('No shape is selected'),
    'Alt+A without a shape says so',
  );
  await page.locator('#c0 .row-link').click();
  await page.keyboard.press('Alt+a');
  ok(
    (await page.locator('[role=tab][aria-selected=true]').textContent()).includes('Compare'),
    'Alt+A shows the comparison',
  );
  const shapes = await page.locator('.near button').count();
  await page.locator('[role=tab]').first().click();
  const other = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const shown = new Set([...document.querySelectorAll('tr[id^=c]')].map(row => row.id));
    const own = app.model.behaviours.list.filter(
      ({ cluster }) => cluster.shapes.length > 0 && shown.has(`c${cluster.index}`),
    );
    return own.at(-1).cluster.index;
  });
  await page.locator(`#c${other} .row-link`).click();
  await page.locator('#chart').focus();
  await page.keyboard.press('Alt+b');
  const rows = await page.locator('table.diff tbody tr').count();
  ok(rows > 0, 'Alt+B puts two shapes side by side', `${rows} pairs, ${shapes} near`);
  const signs = await page.locator('table.diff .sign b').allTextContents();
  ok(
    signs.length >= rows && signs.every(sign => /[=\u2248\u2260AB\u00d7]/.test(sign)),
    'every pair has a sign',
    signs.join(' '),
  );
  const address = await fragmentOf(page);
  ok(/A=shape:\d+/.test(address) && /B=shape:\d+/.test(address), 'the address names both', address);
  const before = await page.locator('.choice.a .row-link').textContent();
  await page.locator('.between button').click();
  ok((await page.locator('.choice.b .row-link').textContent()) === before, 'swap exchanges them');
  await accessibleNow(page);
  await page.locator('.choice.a .link').click();
  await page.locator('.choice.b .link').last().click();
  await page.locator('[role=tab]').first().click();
}

/** What is rare: the list, the story, and ribbons that favour it. */
async function rareOnes(page) {
  await page.locator('[role=tab]:has-text("Rare")').click();
  const listed = await page.locator('table.rare tbody tr').count();
  const known = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    return app.model.behaviours.shapes.rare.length;
  });
  ok(listed === Math.min(60, known), 'rare shapes are listed', `${listed} of ${known}`);
  if (known > 0) {
    await page.locator('table.rare .row-link').first().click();
    await settle(page);
    const state = await page.evaluate(async () => {
      const { app } = await window.weftReady;
      const { range } = app.state.get();
      const { chosen } = app.own.get('patterns').get();
      return { how: chosen?.how ?? '', range };
    });
    ok(state.how === 'rare' || state.range !== null, 'a click goes to the slowest call');
  }
  const picture = () => page.evaluate(() => document.querySelector('.area canvas').toDataURL());
  await page.locator('#chart').focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await page.keyboard.press('Home');
  await settle(page);
  const plain = await picture();
  await page.keyboard.press('r');
  await settle(page);
  const favoured = await picture();
  ok(known === 0 || favoured !== plain, 'r favours rare behaviours');
  ok((await page.textContent('.totals')).includes('favoured'), 'and says so');
  ok((await fragmentOf(page)).includes('pick=rare'), 'the address says so, too');
  await page.keyboard.press('r');
  await settle(page);
  ok((await picture()) === plain, 'the same place shows the same');
  await page.locator('[role=tab]').first().click();
  await page.keyboard.press('1');
  await settle(page);
}

/** Colours from a file and one by one, on both screens, kept and reset. */
async function ownColors(page, folder) {
  const names = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { behaviours, trace } = app.model;
    const fns = [...new Set(behaviours.list.map(b => b.cluster.fn))].slice(0, 2);
    return fns.map(fn => trace.functions.name[fn]);
  });
  const file = join(folder, 'colors.txt');
  writeFileSync(file, `${names[0]} #0b7a75 1\nnot_a_function navy 0.5\nbroken\n`);
  await page.setInputFiles('input[type=file]', file);
  await page.locator('.own-colors li').first().waitFor({ timeout: PATIENCE_MS });
  await settle(page);
  const warnings = await page.locator('.warnings').textContent();
  ok(/line 3/.test(warnings), 'a broken line of a colour file is named', warnings);
  ok(/1 of 2 functions do not occur/.test(warnings), 'so is what does not occur', warnings);
  const hue = screen =>
    page.evaluate(
      async ({ name, which }) => {
        const { app } = await window.weftReady;
        const { behaviours, families, trace } = app.model;
        const fn = trace.functions.name.indexOf(name);
        const at =
          which === 'patterns'
            ? behaviours.list.find(b => b.cluster.fn === fn).hue
            : families.hue[fn];
        return getComputedStyle(document.documentElement).getPropertyValue(`--h${at + 1}`);
      },
      { name: names[0], which: screen },
    );
  ok((await hue('overview')) === '#0b7a75', 'the Overview has the colour');
  await page.locator('#chart').focus();
  await page.keyboard.press('3');
  await settle(page);
  ok((await hue('patterns')) === '#0b7a75', 'and so has Patterns');
  const painted = await page.evaluate(() => {
    const canvas = document.querySelector('.area canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
      if (data[i] === 0x0b && data[i + 1] === 0x7a && data[i + 2] === 0x75) return true;
    return false;
  });
  ok(painted, 'ribbons are painted with it');
  ok((await fragmentOf(page)).includes('s=3'), 'the address follows');
  await page.reload();
  await page.evaluate(() => window.weftReady.then(() => true));
  ok((await hue('patterns')) === '#0b7a75', 'it is kept');
  await page.locator('.colors button:has-text("Reset")').click();
  await settle(page);
  ok((await page.locator('.own-colors').count()) === 0, 'Reset forgets it');
  ok((await hue('patterns')) !== '#0b7a75', 'and gives the old colours back');
  await page.locator('[role=tab]:has-text("Behaviours")').click();
  await page.locator('#c0 .row-link').click();
  await page.locator('.facts .color-input input').fill('#123456');
  await page.locator('.own-colors li').first().waitFor({ timeout: PATIENCE_MS });
  ok(true, 'one behaviour can be given a colour');
  await page.locator('.own-colors .link').first().click();
  ok((await page.locator('.own-colors').count()) === 0, 'and be freed of it');
  await page.locator('#chart').focus();
  await page.keyboard.press('1');
  await settle(page);
}

/** A run without a time of its own: real calls of the behaviour, and whose they are. */
async function standIns(page) {
  await page.locator('#chart').focus();
  await page.keyboard.press('3');
  await settle(page);
  const found = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { shapes } = app.model.behaviours;
    const trees = new Set(shapes.calls.map(tree => tree.cluster));
    for (const thread of shapes.threads)
      for (const [ribbon, own] of (thread?.ribbons ?? []).entries())
        for (let run = 0; run < own.n; run++)
          if (Number.isNaN(own.start[run]) && trees.has(own.cluster[run])) {
            const at = { thread: thread.thread, ribbon, run };
            return { at, cluster: own.cluster[run] };
          }
    return null;
  });
  if (found) {
    await page.evaluate(async ({ cluster, at }) => {
      const { app } = await window.weftReady;
      const ribbon = app.model.behaviours.shapes.threads[at.thread].ribbons[at.ribbon];
      const time = c => Math.floor((app.model.behaviours.shapes.to * c) / 1200);
      const [start, end] = [time(ribbon.first[at.run]), time(ribbon.first[at.run] + 1)];
      const chosen = { cluster, how: 'columns', run: at };
      app.own.get('patterns').update(s => ({
        ...s,
        cluster,
        chosen: { ...chosen, at: { thread: at.thread, start, end, shape: -1 } },
      }));
    }, found);
    await page.locator('.stand-in').waitFor({ timeout: PATIENCE_MS });
    ok((await page.locator('.icicle span').count()) > 0, 'a bare run shows calls of its behaviour');
  }
  await page.locator('#chart').focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await page.keyboard.press('1');
  await settle(page);
}

async function withoutPatterns(browser, folder) {
  const data = makeData(3);
  const trivial = structuredClone(data);
  delete data.shapes;
  const { shapes } = trivial;
  for (const key of Object.keys(shapes.clusters))
    shapes.clusters[key] = Array.isArray(shapes.clusters[key])
      ? []
      : { h: [], s: [], t: [], p: [] };
  Object.assign(shapes, { spikes: { c: [], x: [], at: { h: [], s: [], t: [], p: [] } } });
  Object.assign(shapes, { drops: { c: [], s: [], t: [], n: [], e: [] }, threads: [] });
  Object.assign(shapes, { calls: {}, rare: {}, ribbons: {} });
  for (const key of Object.keys(shapes.table)) shapes.table[key] = [];
  shapes.totals.shapes = 0;
  for (const [json, word] of [
    [data, 'written without shapes'],
    [trivial, 'Only trivial calls'],
  ]) {
    const path = writePage(JSON.stringify(json), join(folder, 'bare.html'));
    const { page, context, trouble } = await open(browser, path, {}, '#v=1&s=3');
    ok((await page.textContent('.empty')).includes(word), `an empty screen says why: ${word}`);
    ok(trouble.length === 0, 'without trouble', trouble.join('; '));
    await context.close();
  }
}

/** Names, roles, landmarks: what a screen reader needs. */
async function accessibleNow(page) {
  const problems = await page.evaluate(() => {
    const out = [];
    const nameOf = e =>
      e.getAttribute('aria-label') ||
      e.textContent.trim() ||
      e.title ||
      (e.labels?.length ? 'label' : '');
    for (const e of document.querySelectorAll(
      'button, input, select, a, [role=listbox], aside, nav, section[aria-label]',
    ))
      if (!nameOf(e)) out.push(`no name: ${e.outerHTML.slice(0, 80)}`);
    for (const e of document.querySelectorAll('canvas'))
      if (e.getAttribute('aria-hidden') !== 'true') out.push('canvas not hidden');
    for (const e of document.querySelectorAll('table thead th'))
      if (!e.hasAttribute('scope')) out.push(`no scope: ${e.textContent}`);
    for (const e of document.querySelectorAll('[aria-activedescendant]'))
      if (!document.getElementById(e.getAttribute('aria-activedescendant')))
        out.push('active descendant is missing');
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    if (new Set(ids).size !== ids.length) out.push('an id twice');
    if (!document.querySelector('main')) out.push('no main');
    if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
    if (!document.documentElement.lang) out.push('no language');
    return out;
  });
  ok(problems.length === 0, 'names, roles and landmarks', problems.join('; '));
}

async function accessible(page) {
  await accessibleNow(page);
  const stops = new Set();
  await page.locator('.brand').click();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    stops.add(
      await page.evaluate(
        () =>
          document.activeElement?.closest('header, nav, aside, main, section, footer')?.className ??
          '',
      ),
    );
  }
  for (const pane of ['top', 'crumbs', 'rail', 'story']) ok(stops.has(pane), `Tab reaches ${pane}`);
}

async function themes(browser, path) {
  for (const scheme of ['light', 'dark']) {
    const { page, context } = await open(browser, path, { colorScheme: scheme });
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    ok(
      ground === (scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)'),
      `follows the system: ${scheme}`,
      ground,
    );
    await page.click('header button:has-text("Theme")');
    if (scheme === 'light') await page.click('header button:has-text("Theme")');
    await settle(page);
    const forced = await page.evaluate(() => document.documentElement.getAttribute('data-theme'));
    ok(forced === (scheme === 'light' ? 'dark' : 'light'), 'and can be forced', forced);
    await context.close();
  }
}

async function sizes(browser, folder) {
  for (const [threads, width] of [
    [0, 1600],
    [1, 1280],
    [5, 1000],
    [2000, 1600],
  ]) {
    const path = writePage(JSON.stringify(makeData(threads)), join(folder, `n${threads}.html`));
    const { page, context, trouble } = await open(browser, path, {
      viewport: { width, height: 800 },
    });
    ok(trouble.length === 0, `${threads} threads: no trouble`, trouble.join('; '));
    ok(
      (await page.locator('.rows .label').count()) < 200,
      `${threads} threads: only rows in view are in the document`,
    );
    const axis = await page.evaluate(() => document.querySelector('.area').clientWidth);
    ok(axis >= 400, `${threads} threads, ${width} wide: the axis stays wide`, `${axis} px`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    ok(over <= 0, `${threads} threads, ${width} wide: no horizontal scrolling`, `${over} px`);
    await context.close();
  }
}

async function speed(browser, folder) {
  const path = writePage(JSON.stringify(makeData(110)), join(folder, 'n110.html'));
  const { page, context } = await open(browser, path);
  const median = await page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    const all = app.model.trace.threads.map(t => t.index);
    app.state.update(s => ({
      ...s,
      unpacked: new Set(
        stage
          .rows()
          .rows.map(r => r.pack?.key)
          .filter(Boolean),
      ),
    }));
    void all;
    const times = [];
    for (let i = 0; i < 15; i++) {
      stage.markBase();
      await stage.idle();
      times.push(stage.lastPaint);
    }
    return times.sort((a, b) => a - b)[7];
  });
  console.log(`# painting a frame took ${median.toFixed(1)} ms (median of 15)`);
  await context.close();
}

async function ribbonSpeed(browser, folder) {
  const path = writePage(JSON.stringify(makeData(110)), join(folder, 'r110.html'));
  const { page, context } = await open(browser, path, {}, '#v=1&s=3');
  const median = await page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    app.state.update(s => ({ ...s, unpacked: new Set(['g0', 'g1', 'g2', 'g3']) }));
    const times = [];
    for (let i = 0; i < 15; i++) {
      stage.markBase();
      await stage.idle();
      times.push(stage.lastPaint);
    }
    return times.sort((a, b) => a - b)[7];
  });
  console.log(`# painting a frame of ribbons took ${median.toFixed(1)} ms (median of 15)`);
  await context.close();
}

async function damaged(browser, folder) {
  const path = writePage(JSON.stringify({ v: 99 }), join(folder, 'bad.html'));
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.goto(`file://${path}`);
  await page.waitForSelector('.failure');
  ok(
    (await page.textContent('.failure')).includes('version'),
    'data of another version is refused with a sentence',
  );
  await context.close();
}

/** The page hears keys as soon as it says that it is ready, however late its effects are. */
async function early(browser, path) {
  const context = await newContext(browser);
  await context.addInitScript(() => {
    const timer = window.setTimeout.bind(window);
    window.setTimeout = (run, ms = 0, ...rest) => timer(run, ms + 400, ...rest);
  });
  const page = await context.newPage();
  await page.goto(`file://${path}`);
  const drawer = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
    return app.state.get().drawer;
  });
  ok(drawer === 'help', 'a page that is ready hears keys', drawer);
  await context.close();
}

async function link(browser, path) {
  const first = await open(browser, path);
  await first.page.locator('#chart').focus();
  await first.page.keyboard.press('ArrowDown');
  await first.page.keyboard.press('KeyW');
  const fragment = await fragmentOf(first.page);
  const state = await stateOf(first.page);
  await first.context.close();
  const second = await open(browser, path, {}, fragment);
  const again = await stateOf(second.page);
  const isSame =
    Math.abs(again.window.t0 - state.window.t0) <= 1 &&
    JSON.stringify(again.item) === JSON.stringify(state.item);
  ok(isSame, 'a copied link shows the same', `${fragment} ${JSON.stringify(again)}`);
  await second.context.close();
}

async function main() {
  if (!findChromium()) {
    console.log('1..0 # SKIP no Chromium');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weft-page-'));
  const given = process.argv[2];
  const path = given ?? writePage(JSON.stringify(makeData(40)), join(folder, 'n40.html'));
  const browser = await openBrowser();
  try {
    const { page, context, trouble } = await open(browser, path);
    for (const part of [facts, pointing, ranges, keyboard, searching, panels, accessible])
      await part(page);
    for (const part of [patterns, comparing, rareOnes, standIns]) await part(page);
    await ownColors(page, folder);
    for (const part of [durations, pinning, recalling]) await part(page, ok);
    ok(trouble.length === 0, 'no console error, no network', trouble.join('; '));
    await context.close();
    await themes(browser, path);
    await link(browser, path);
    await early(browser, path);
    if (!given) {
      const data = makeData(12);
      const { columns } = data.shapes;
      const idle = JSON.stringify(withIdle(data, columns * 0.3, columns * 0.6));
      const other = await open(browser, writePage(idle, join(folder, 'idle.html')));
      await folding(other.page, ok);
      ok(other.trouble.length === 0, 'no console error while folding', other.trouble.join('; '));
      await other.context.close();
    }
    if (!given)
      for (const part of [sizes, speed, ribbonSpeed, damaged, withoutPatterns])
        await part(browser, folder);
    if (!given) await testCompare(ok, browser);
    if (!given) await testFunctions(ok, browser);
    if (!given) await timelineTests(browser, ok);
    if (!given) await testInterplay(ok, browser);
  } catch (error) {
    threw(error);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
  end();
}

await main();
