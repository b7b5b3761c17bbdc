// SPDX-License-Identifier: MIT
// The served page in a headless browser. usage: node served.mjs WEFT TRACE.weft KERNEL.weft [NEWER.db]
// NEWER.db: a database of a later version than this program's.
// Its answers must be those of the same program on the command line. Prints TAP.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { troubleOf, walkByTab } from './access.mjs';
import { findChromium, makeTap, openBrowser, PATIENCE_MS, settle } from './page.mjs';
import { ask, openServed, quiet, serve } from './serve.mjs';

const [weft, trace, kernel, newer] = process.argv.slice(2);
const { ok, end, threw } = makeTap(280);

function same(got, wanted, name) {
  const [a, b] = [String(JSON.stringify(got)), String(JSON.stringify(wanted))];
  ok(a === b, name, `${a.slice(0, 300)} instead of ${b.slice(0, 300)}`);
}

/** What the tests look at, by name. */
const look = (page, what) =>
  page.evaluate(async what => {
    const { app, stage } = await window.weftReady;
    const state = app.state.get();
    const { set, isSetOnly, call } = app.served.state.get();
    const { trace } = app.model;
    const looks = {
      part: () => trace.part,
      window: () => state.window,
      range: () => state.range,
      crumbs: () => state.crumbs.length,
      item: () => state.item,
      settings: () => trace.settings,
      totals: () => trace.totals,
      screen: () => state.screen,
      drawer: () => state.drawer,
      screens: () => {
        const digits = [...document.querySelectorAll('.rail b')].map(b => b.textContent);
        return app.screens.map(({ key }, i) => ({ key, digit: digits[i] }));
      },
      threads: () => app.served.threads.map(({ tid }) => tid),
      functions: () => app.served.names.name,
      duration: () => trace.duration,
      isSetOnly: () => isSetOnly,
      call: () => call,
      pixels: () => stage.canvases.base.toDataURL(),
      set: () =>
        set && {
          ...{ title: set.title, total: set.total, n: set.n, thread: [...set.thread] },
          ...{ start: [...set.start], end: [...set.end], fn: [...set.fn], depth: [...set.depth] },
        },
    };
    return looks[what]();
  }, what);

/** Drags over the chart from one share of its width to another. */
async function drag(page, from, to) {
  const box = await page.locator('.area').boundingBox();
  const y = box.y + Math.min(60, box.height / 2);
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
}

async function search(page, text) {
  await page.keyboard.press('Escape');
  await page.locator('#search').fill(text);
  await quiet(page);
}

const times = ({ t0, t1 }) => ['--from', `${t0}ns`, '--to', `${t1}ns`];

/* ---- Overview ---- */

async function regimes(page) {
  await quiet(page);
  ok((await look(page, 'part')) === null, 'the regimes of the whole trace arrive');
  const wanted = ask(weft, 'regtime', trace);
  const rows = wanted.threads.reduce((sum, { rows_after }) => sum + rows_after, 0);
  same((await look(page, 'totals')).rowsAfter, rows, 'they are those of the command line');
  await drag(page, 0.35, 0.55);
  const range = await look(page, 'range');
  await page.keyboard.press('z');
  await quiet(page);
  const part = await look(page, 'part');
  same(part?.span, await look(page, 'window'), 'a committed window has regimes of its own');
  ok(Math.abs(part.span.t0 - range.t0) <= 1, 'it is the range');
  ok(
    (await page.locator('.totals').textContent()).includes('Regimes of this window'),
    'the page says so',
  );
  const cut = ask(weft, 'regtime', trace, ...times(part.span));
  const cutRows = cut.threads.reduce((sum, { rows_after }) => sum + rows_after, 0);
  same((await look(page, 'totals')).rowsAfter, cutRows, 'they are those of the command line too');
  await page.keyboard.press('Backspace');
  ok((await look(page, 'part')) === null, 'zooming out shows those of the whole trace at once');
}

async function thresholds(page) {
  await page.locator('#thresholds').click();
  await page.locator('form.regimes select').selectOption('fine');
  await page.locator('form.regimes').getByLabel(/^Rows/).fill('100');
  await page.locator('form.regimes button[type=submit]').click();
  await quiet(page);
  const settings = await look(page, 'settings');
  same([settings.preset, settings.glyphs], ['fine', 100], 'the form asks for other regimes');
  await page.waitForFunction(() => location.hash.includes('reg=preset:fine,glyphs:100'));
  ok(true, 'as a link says');
  await page.locator('#thresholds').click();
  await page.getByText('As the program has them').click();
  await page.keyboard.press('Escape');
  await quiet(page);
  same((await look(page, 'settings')).preset, 'paper', 'and for its own again');
}

/** The rows of the table "what each thread did then". */
const tableOf = page =>
  page.evaluate(async () => {
    const all = document.querySelector('.exact .remark .link');
    if (all?.textContent === 'show all') all.click();
    await new Promise(resolve => setTimeout(resolve, 100));
    return [...document.querySelectorAll('.exact tbody tr')].map(row => {
      const cell = [...row.children].map(one => one.textContent);
      const name = row.children[4].querySelector('[title]')?.getAttribute('title') ?? null;
      return { tid: Number(/T(\d+)/.exec(cell[0])[1]), calls: cell[2], top: name, none: cell[6] };
    });
  });

async function interval(page) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await drag(page, 0.42, 0.5);
  await quiet(page);
  const range = await look(page, 'range');
  const { threads } = ask(weft, 'interval', trace, ...times(range));
  const wanted = new Map(threads.map(thread => [thread.tid, thread]));
  const table = await tableOf(page);
  same(table.length, threads.length, 'the interval table has every thread');
  const calls = table.filter(row => row.calls.replace(/,/g, '') !== `${wanted.get(row.tid).calls}`);
  same(calls, [], 'its calls are exact');
  const top = table.filter(row => row.top !== wanted.get(row.tid).top_function);
  const isTie = row => {
    const self = new Map();
    for (const one of wanted.get(row.tid).cct)
      self.set(one.function, (self.get(one.function) ?? 0) + one.self_ns);
    return self.get(row.top) === wanted.get(row.tid).top_self_ns;
  };
  same(
    top.filter(row => !isTie(row)),
    [],
    'so is where each thread was longest',
  );
  const idle = table.filter(
    row =>
      (row.none === '\u2013') !==
      (wanted.get(row.tid).no_call_ns + wanted.get(row.tid).outside_ns === 0),
  );
  same(idle, [], 'and that it was in no call');
  await page.locator('.exact tbody .row-link').first().click();
  await quiet(page);
  ok((await page.locator('.exact tr.sub').count()) > 0, 'a row opens to its contexts');
  await page.locator('.exact tbody .row-link').first().click();
  await page.keyboard.press('Escape');
}

/* ---- the tasks of the NonSequitur study ---- */

/** The function of some calls that is busiest in time, waits left out. */
function busiest(functions) {
  const some = functions.filter(one => one.count >= 20 && !/wait|sleep|main|run$/.test(one.name));
  return some.sort((a, b) => b.self_ns - a.self_ns)[0];
}

async function listed(page) {
  await page.keyboard.press('>');
  await page.locator('.palette input').fill('list the set');
  await page.keyboard.press('Enter');
  await page.locator('.interval.set').waitFor();
}

/** T1: in which thread does f run throughout? */
async function throughout(page, one) {
  await search(page, `fn:"/^${one.name}$/"`.replace(/"/g, ''));
  const set = await look(page, 'set');
  same(set?.total, one.count, `T1: all calls of ${one.name} are found`);
  await page.locator('#chart').focus();
  await listed(page);
  const answer = await page.locator('.by-thread tbody th').first().textContent();
  const { threads } = ask(weft, 'interval', trace, '--contexts');
  const sums = threads.map(({ tid, cct }) => {
    let [sum, depth] = [0, Infinity]; // recursive calls lie within the outermost
    for (const row of cct) {
      if (row.depth <= depth) depth = Infinity;
      if (row.function !== one.name || depth < Infinity) continue;
      depth = row.depth;
      sum += row.sum_ns;
    }
    return { tid, sum };
  });
  const most = Math.max(...sums.map(({ sum }) => sum));
  const best = sums.filter(({ sum }) => sum === most).map(({ tid }) => `T${tid}`);
  ok(
    set.n < set.total || best.includes(answer.trim()),
    'T1: the thread with most time in it is first',
    `${answer} instead of ${best}`,
  );
  await page.keyboard.press('Escape');
}

/** T2: which threads have calls of f longer than X, and when? */
async function longerThan(page, one) {
  const least = Math.max(1, Math.floor(one.max_ns / 3));
  await search(page, `fn:/^${one.name}$/ min:${least}ns`);
  const set = await look(page, 'set');
  const tids = await look(page, 'threads');
  ok(set !== null && set.n > 0 && set.n === set.total, 'T2: calls longer than X are found');
  const byThread = new Map();
  for (let i = 0; i < set.n; i++) {
    const tid = tids[set.thread[i]];
    byThread.set(tid, [...(byThread.get(tid) ?? []), set.end[i] - set.start[i]]);
  }
  const wrong = [];
  for (const [tid, lengths] of [...byThread].slice(0, 6)) {
    lengths.sort((a, b) => b - a);
    const nth = i => ask(weft, 'interval', trace, '--during', `${tid}:${one.name}:${i + 1}`);
    for (const i of new Set([0, lengths.length - 1])) {
      const { from_ns, to_ns } = nth(i);
      const isHere = set.start.some((start, k) => start === from_ns && set.end[k] === to_ns);
      if (to_ns - from_ns !== lengths[i] || !isHere) wrong.push(`T${tid} ${i} ${from_ns}`);
    }
  }
  same(wrong, [], 'T2: which, and when, as the command line has them');
  ok(
    (await page.locator('.crumbs').textContent()).includes(`(${set.n.toLocaleString('en-US')})`),
    'T2: the set is a crumb with its count',
  );
  return set;
}

/** T3: what did the others do during the longest wait? */
async function meanwhile(page, functions) {
  const waits = functions.filter(({ name, count }) => /wait/.test(name) && count > 0);
  const wait = waits.sort((a, b) => b.max_ns - a.max_ns)[0] ?? functions[0];
  await search(page, `fn:/^${wait.name}$/ min:${wait.max_ns}ns`);
  await page.locator('#chart').focus();
  await listed(page);
  await page.locator('.set tbody .row-link').first().click();
  await page.locator('.set .right .link', { hasText: 'close the list' }).click();
  await quiet(page);
  const call = await look(page, 'call');
  const tid = (await look(page, 'threads'))[call.thread];
  const longest = ask(weft, 'interval', trace, '--during', `${tid}:${wait.name}:1`);
  same(
    [call.start, call.end],
    [longest.from_ns, longest.to_ns],
    'T3: the longest wait is the command line\u2019s',
  );
  const span = { t0: call.start, t1: call.end };
  const { threads } = ask(weft, 'interval', trace, ...times(span));
  const wanted = new Map(threads.map(one => [one.tid, one]));
  const table = await tableOf(page);
  const wrong = table.filter(row => {
    const one = wanted.get(row.tid);
    if (row.calls.replace(/,/g, '') !== `${one.calls}`) return true;
    const inTop = one.cct.filter(({ function: name }) => name === row.top);
    return inTop.reduce((sum, { self_ns }) => sum + self_ns, 0) !== (one.top_self_ns ?? 0);
  });
  same(wrong.slice(0, 3), [], 'T3: what each thread did then is the command line\u2019s');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
}

/* ---- the vocabulary ---- */

async function sets(page, one) {
  await search(page, `fn:/^${one.name}$/`);
  const set = await look(page, 'set');
  await page.locator('#search').press('Enter');
  const first = await look(page, 'call');
  same(first?.start, set.start[0], 'Enter in the box goes to the first of the set');
  await page.locator('#search').press('Enter');
  same((await look(page, 'call')).start, set.start[1 % set.n], 'and to the next');
  await page.locator('#search').press('Shift+Enter');
  same((await look(page, 'call')).start, set.start[0], 'Shift+Enter goes back');
  await page.locator('#chart').focus();
  await page.keyboard.press('.');
  same((await look(page, 'call')).start, set.start[1 % set.n], '. steps as well');
  await page.keyboard.press('h');
  ok(await look(page, 'isSetOnly'), 'h shows only threads of the set');
  const rows = await page.locator('.rows .label').count();
  ok(rows > 0, 'with their rows');
  await page.keyboard.press('h');
  ok(!(await look(page, 'isSetOnly')), 'h again shows all');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await quiet(page);
  ok((await look(page, 'set')) === null, 'Esc drops the set');
}

async function palette(page) {
  await page.locator('#chart').focus();
  await page.keyboard.press('Control+Shift+P');
  const lines = page.locator('.palette [role=option]');
  ok((await lines.count()) > 10, 'Ctrl+Shift+P lists commands');
  ok((await page.locator('.palette kbd').count()) > 3, 'with their keys');
  await page.locator('.palette input').fill('whole trace');
  ok((await lines.first().textContent()).includes('whole trace'), 'which can be searched');
  await page.keyboard.press('Escape');
  same(await look(page, 'drawer'), '', 'Esc closes it');
  await page.locator('#search').fill('>');
  ok((await page.locator('.palette').count()) === 1, '> in the box opens it too');
  await page.keyboard.press('Escape');
  const tids = await look(page, 'threads');
  await page.keyboard.press('Control+P');
  await page.locator('.palette input').fill(`T${tids[0]}`);
  ok((await lines.first().textContent()).startsWith(`T${tids[0]}`), 'Ctrl+P finds a thread');
  await page.keyboard.press('Escape');
}

async function keys(page) {
  await page.locator('#chart').focus();
  await page.keyboard.press('?');
  const help = await page.locator('.help').textContent();
  ok(
    ['Commands', 'One crumb back', 'Next of the set'].every(word => help.includes(word)),
    'the help is made of the same commands',
  );
  await page.keyboard.press('Escape');
  await drag(page, 0.3, 0.4);
  await page.keyboard.press('z');
  same(await look(page, 'crumbs'), 1, 'z commits the range');
  await page.keyboard.press('Home');
  same([await look(page, 'crumbs'), (await look(page, 'window')).t0], [0, 0], '0 shows all');
  await page.keyboard.press('t');
  await page.keyboard.press('t');
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowDown');
  ok((await look(page, 'item')) !== null, 'arrows walk items');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  const focus = await page.evaluate(() => document.activeElement.id);
  same(focus, 'search', '/ goes to the search');
  await page.keyboard.press('Escape');
  await page.locator('#chart').focus();
}

async function menus(page) {
  const box = await page.locator('.area').boundingBox();
  await page.mouse.click(box.x + box.width * 0.4, box.y + 12, { button: 'right' });
  const lines = await page.locator('.items-menu button').allTextContents();
  ok(
    ['Start range here', 'End range here', 'Range = this item'].every((word, i) =>
      lines[i]?.startsWith(word),
    ),
    'a menu begins with what makes a range',
    lines.join(' | '),
  );
  await page.locator('.items-menu button').first().click();
  ok((await look(page, 'range')) !== null, 'which it does');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
}

/** What the tool-tip says is what lies under the pointer. */
async function hovering(page) {
  const box = await page.locator('.area').boundingBox();
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const wrong = [];
  let seen = 0;
  for (let tries = 0; seen < 10 && tries < 60; tries++) {
    const [x, y] = [box.width * random(), Math.min(box.height, 500) * random()];
    await page.mouse.move(box.x + x, box.y + y);
    const said = await page.evaluate(
      async ([x, y]) => {
        const { app, stage } = await window.weftReady;
        await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 30)));
        const hit = stage.hit(x, y);
        const { hover } = app.own.get('overview').state.get();
        const tip = document.querySelector('.tip b')?.textContent ?? null;
        if (!hit) return { isNothing: hover === null && tip === null };
        const { rows } = app.model.trace.threads[hit.thread];
        const name = app.model.trace.functions.name[rows.fn[hit.row]];
        const isIt = hover?.thread === hit.thread && hover.row === hit.row;
        const isNamed = rows.kind[hit.row] !== 0 || tip?.includes(name);
        return { isNothing: false, isRight: isIt && tip !== null && isNamed, tip, name };
      },
      [x, y],
    );
    if (said.isNothing) continue;
    seen++;
    if (!said.isRight) wrong.push(said);
  }
  same([seen, wrong], [10, []], 'hovering shows the item under the pointer at 10 places');
  await page.mouse.move(5, 5);
}

async function backAndForward(page) {
  await page.keyboard.press('Home');
  await quiet(page);
  await settle(page);
  const before = await look(page, 'pixels');
  await drag(page, 0.2, 0.3);
  await page.keyboard.press('z');
  await quiet(page);
  await settle(page);
  const there = await look(page, 'pixels');
  await page.goBack();
  await quiet(page);
  ok((await look(page, 'pixels')) === before, 'back shows the same pixels');
  await page.goForward();
  await quiet(page);
  ok((await look(page, 'pixels')) === there, 'forward too');
  await page.goBack();
  await quiet(page);
}

async function links(browser, page, url) {
  await drag(page, 0.3, 0.42);
  await page.keyboard.press('z');
  await quiet(page);
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.mouse.move(5, 5);
  await quiet(page);
  await page.waitForFunction(() => location.hash.includes('row='));
  const hash = await page.evaluate(() => location.hash);
  const pixels = await look(page, 'pixels');
  const second = await openServed(browser, url + hash);
  await quiet(second.page);
  same(await look(second.page, 'item'), await look(page, 'item'), 'a link selects the same item');
  ok((await look(second.page, 'pixels')) === pixels, 'and shows the same pixels', hash);
  await second.context.close();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Home');
  await quiet(page);
}

/** But for Findings of a real trace: that diagnosis may take longer than a test. */
async function screensOf(page) {
  const all = await look(page, 'screens');
  return kernel ? all : all.filter(({ key }) => key !== 'findings');
}

async function screens(page) {
  for (const { key, digit } of await screensOf(page)) {
    await page.locator('body').press(String(digit));
    await quiet(page);
    same(await look(page, 'screen'), key, `${digit} opens ${key}`);
    ok((await page.locator('main').innerText()).trim().length > 0, `${key} shows something`);
  }
  await page.locator('body').press('1');
  await quiet(page);
}

async function patterns(page) {
  await page.locator('body').press('3');
  await quiet(page);
  const cluster = page.locator('.clusters tbody .row-link').first();
  if ((await cluster.count()) === 0) return;
  await cluster.click();
  await page.locator('.behaviour .tools button').first().click();
  await quiet(page);
  const [said, calls] = [
    await page.locator('.behaviour').textContent(),
    await page.locator('.icicle [role=listitem]').count(),
  ];
  ok(calls > 0 && /All [\d,]+ calls?|longest of/.test(said), 'an occurrence shows its calls');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('body').press('1');
  await quiet(page);
}

async function themes(browser, url) {
  for (const colorScheme of ['light', 'dark'])
    for (const viewport of [
      { width: 1600, height: 1000 },
      { width: 1280, height: 800 },
    ]) {
      const { page, context, trouble } = await openServed(browser, url, { colorScheme, viewport });
      await quiet(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      ok(over <= 0, `${colorScheme} ${viewport.width}: nothing is wider than the page`, `${over}`);
      same(trouble, [], `${colorScheme} ${viewport.width}: no trouble`);
      await context.close();
    }
}

/** Every screen, as it opens and with something selected: names, roles, contrast, Tab. */
async function access(browser, url) {
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await openServed(browser, url, { colorScheme });
    for (const { key, digit } of await screensOf(page)) {
      await page.locator('body').press(String(digit));
      await quiet(page);
      same(await troubleOf(page), [], `${key}, ${colorScheme}: names, roles and contrast`);
      await selectSomething(page, key);
      same(await troubleOf(page), [], `${key}, ${colorScheme}: the same with something selected`);
      if (colorScheme === 'dark') continue;
      const { stops, trouble } = await walkByTab(page);
      ok(stops > 8 && trouble.length === 0, `${key}: Tab goes through all of it`, trouble.join());
    }
    if (colorScheme === 'light') await accessIsLookedAt(page);
    await context.close();
  }
}

/** The look itself is tested with what is wrong on purpose. */
async function accessIsLookedAt(page) {
  await page.evaluate(() => {
    const parts = '<button></button><i role="option">o</i><b>b</b>';
    document.body.insertAdjacentHTML('beforeend', `<div id="bad">${parts}</div>`);
    Object.assign(document.querySelector('#bad b').style, { color: '#888', background: '#999' });
  });
  const found = await troubleOf(page);
  await page.evaluate(() => document.getElementById('bad').remove());
  const kinds = found.map(text => text.split(/[ :]/)[0]).sort();
  same(kinds, ['contrast', 'no', 'option'], 'what cannot be read or named is found');
}

async function selectSomething(page, screen) {
  const places = {
    overview: '.story table.fixed .row-link',
    patterns: '.clusters tbody .row-link',
    functions: 'table.functions tbody tr:not(.gap) th',
  };
  if (places[screen]) await page.locator(places[screen]).first().click();
  if (screen === 'timeline') await page.locator('#chart').press('ArrowRight');
  await quiet(page);
}

async function lost(browser) {
  const server = await serve(weft, [trace]);
  const { page, context } = await openServed(browser, server.url);
  await quiet(page);
  await server.stop();
  await drag(page, 0.4, 0.5);
  await page.locator('.badge.bad', { hasText: 'no connection' }).waitFor({ timeout: PATIENCE_MS });
  ok(true, 'the page says when its server is gone');
  ok((await page.locator('.interval tbody tr').count()) > 0, 'and shows what it knows');
  await context.close();
}

/** The tool-tip over the first state of the Timeline whose words match. */
async function tipOfState(page, wanted) {
  await page.locator('body').press('2');
  await quiet(page);
  const place = await page.evaluate(async text => {
    const { stage } = await window.weftReady;
    const area = document.querySelector('.tchart .area').getBoundingClientRect();
    for (let y = 1; y < area.height; y += 3)
      for (let x = 0; x < area.width; x += 2)
        if (stage.stateAt(x, y)?.words.includes(text)) return { x: area.left + x, y: area.top + y };
    return null;
  }, wanted);
  if (!place) return `no state has the words ${wanted}`;
  await page.mouse.move(place.x, place.y);
  await page.locator('.tip').waitFor();
  const said = await page.textContent('.tip');
  await page.mouse.click(place.x, place.y);
  const range = await look(page, 'range');
  ok(range?.t1 > range?.t0 && range.t0 >= 0, 'a click on a state makes its time the range');
  await page.keyboard.press('Escape');
  await page.mouse.move(800, 12);
  return said;
}

/** Of a trace without a kernel, states are those that the regimes let infer. */
async function inferred(page) {
  const said = await tipOfState(page, 'waited, in ');
  ok(/inferred from silences of .* or more/.test(said), 'a wait is inferred, and says so', said);
  await page.locator('body').press('1');
  await quiet(page);
}

/** A trace that has only kernel events. */
async function kernelOnly(browser) {
  const server = await serve(weft, [kernel]);
  const { page, context, trouble } = await openServed(browser, server.url);
  await page.locator('body').press('2');
  await quiet(page);
  const map = await page.textContent('.tmap');
  ok(/running.*max [1-2]/.test(map), 'kernel: the mini-map says how many ran', map);
  const busy = await page.evaluate(() => {
    const canvas = document.querySelector('.tmap canvas');
    const { width } = canvas;
    const ctx = canvas.getContext('2d');
    const row = y => ctx.getImageData(4, y, width - 8, 1).data;
    const [top, low] = [row(1), row(36)];
    const isBar = (_, i) => top[4 * i] !== low[4 * i];
    return Array.from({ length: width - 8 }, isBar).filter(Boolean).length / (width - 8);
  });
  ok(busy > 0.2 && busy < 1, 'kernel: and shows when', `${busy}`);
  await page.locator('body').press('8');
  const none = await page.locator('.none-found').textContent();
  ok(
    none === 'No rows: no thread has a function call in the window.',
    'lists: why it is empty',
    none,
  );
  const blocked = await tipOfState(page, 'waits for a disk, in fsync');
  ok(blocked.includes('as the kernel saw it'), 'kernel: a wait says for what', blocked);
  const lost = await tipOfState(page, 'its switch was lost');
  ok(lost.includes('as the kernel saw it'), 'kernel: what was lost is a band', lost);
  for (const screen of ['3', '7']) {
    await page.locator('body').press(screen);
    await quiet(page);
    const said = await page.textContent('main');
    const isWhy = said.includes('only kernel events') && said.includes('XRAY_OPTIONS');
    ok(isWhy, `kernel: screen ${screen} says why it is empty, and how to record calls`, said);
  }
  same(trouble, [], 'kernel: no trouble');
  await context.close();
  await server.stop();
}

/** A program may have been built without its server. */
function canServe() {
  const { stderr } = spawnSync(weft, ['serve', '/dev/null']);
  return !stderr.toString().includes('built without its server');
}

/** A database that this program cannot read says so, and hides nothing of what can be read. */
async function later(browser) {
  for (const files of [[newer], [trace, newer]]) {
    const server = await serve(weft, files, ['-q']);
    try {
      const { page, context } = await openServed(browser, `${server.url}#v=1&s=6`);
      await page.locator('.cmp-trouble').waitFor({ timeout: PATIENCE_MS });
      await settle(page);
      const text = await page.textContent('.cmp-trouble');
      ok(
        /newer\.db: .* version 99, .* a newer weft reads it\.$/.test(text),
        'a later database',
        text,
      );
      const proposed = page.locator('[aria-label="Executions of the trace"] .row-link');
      const n = await proposed.count();
      ok(n > 0 === files.includes(trace), 'the trace beside it is there', String(n));
      const head = await page.textContent('.cmp-subjects h2');
      ok(head.startsWith('newer.db'), 'it is said of that database', head);
      await context.close();
    } finally {
      await server.stop();
    }
  }
}

/** The screen of plain lists: the rows of the command line under its heads, and sorted on a click. */
async function lists(page) {
  const { rows } = ask(weft, 'roots', trace);
  const cells = n => page.locator(`.health table tr > :nth-child(${n})`).allTextContents();
  await page.locator('body').press('8');
  await page.locator('.health table tbody tr').first().waitFor();
  same(
    await cells(1),
    ['tid', ...rows.map(({ tid }) => String(tid))],
    'lists: root calls of threads',
  );
  await page.locator('.health table th button', { hasText: 'calls' }).click();
  const most = Math.max(...rows.map(({ count }) => count));
  same((await cells(3))[1].replace(/,/g, ''), String(most), 'lists: sorted by a column');
}

async function main() {
  if (!weft || !trace || !findChromium()) {
    console.log(
      `1..0 # SKIP ${weft && trace ? 'no Chromium' : 'usage: served.mjs WEFT TRACE KERNEL'}`,
    );
    return;
  }
  if (!canServe()) {
    console.log('1..0 # SKIP this weft does not serve');
    return;
  }
  const functions = ask(weft, 'functions', trace).functions;
  const server = await serve(weft, [trace]);
  const browser = await openBrowser();
  try {
    const { page, trouble, first_ms } = await openServed(browser, server.url);
    console.log(`# first picture after ${first_ms} ms`);
    const one = busiest(functions);
    await regimes(page);
    await thresholds(page);
    await interval(page);
    await throughout(page, one);
    await longerThan(page, one);
    await meanwhile(page, functions);
    await sets(page, one);
    for (const part of [palette, keys, menus, hovering, backAndForward]) await part(page);
    await links(browser, page, server.url);
    await screens(page);
    await patterns(page);
    await inferred(page);
    await lists(page);
    same(trouble, [], 'no console error, no request to another host');
    await themes(browser, server.url);
    await access(browser, server.url);
    await lost(browser);
    if (kernel) await kernelOnly(browser);
    if (newer && existsSync(newer)) await later(browser);
  } catch (error) {
    threw(error);
  } finally {
    await browser.close();
    await server.stop();
  }
  end();
}

await main();
