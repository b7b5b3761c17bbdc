// SPDX-License-Identifier: MIT
// Screens 7 Functions and 9 Health of the served page, before a made-up server; and before a real one
// if WEFT_BIN and WEFT_TRACE say which.
import { execFileSync } from 'node:child_process';
import { chosenCalls, functionRows, makeTrace, serveFake } from './fakefunctions.mjs';
import { fragmentOf, newContext, PATIENCE_MS, settle } from './page.mjs';
import { startBefore, startBinary } from './timelineserver.mjs';

async function open(browser, address, fragment = '#v=1&s=7', options = {}) {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const trouble = [];
  page.on('console', message => {
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) trouble.push(message.text());
  });
  page.on('response', response => {
    const isOthers = /api\/(regtime|shapes)\?/.test(response.url());
    if (response.status() >= 400 && !isOthers) trouble.push(response.url());
  });
  page.on('pageerror', error => trouble.push(error.message));
  const host = new URL(address).host;
  page.on('request', request => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.host !== host) trouble.push(`request ${request.url()}`);
  });
  await page.goto(address + fragment);
  await page.evaluate(() => window.weftReady.then(() => true));
  return { page, context, trouble };
}

const now = page => page.locator('table.functions tr.now th').textContent();
const first = page => page.locator('table.functions tbody tr:not(.gap) th').first().textContent();
const foot = page => page.locator('.table-panel .foot').textContent();
const chips = page => page.locator('.chips button').allTextContents();

/** Colours of a canvas: a painted one has several. */
const colours = (page, selector) =>
  page.evaluate(where => {
    const canvas = document.querySelector(where);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 16)
      seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size;
  }, selector);

async function table(ok, { page }, trace) {
  await settle(page);
  const rows = functionRows(trace, () => null);
  ok(
    (await foot(page)).startsWith(
      `${rows.length} of ${rows.length} functions shown, most self time first`,
    ),
    'the table says how many and in which order',
    await foot(page),
  );
  ok((await first(page)) === rows[0].name, 'most self time first', await first(page));
  const text = await page.textContent('.lead-in');
  ok(
    text.includes('thread-time') && text.includes('wall-time'),
    'thread-time and wall-time are said',
  );
  ok(text.includes('the whole trace'), 'it is said of which part');
  for (const [head, key, isUp] of [
    ['calls', 'count'],
    ['incl.', 'inclusive_ns'],
    ['min', 'min_ns'],
    ['mean', 'mean_ns'],
    ['p50', 'p50_ns'],
    ['p99', 'p99_ns'],
    ['p99.9', 'p999_ns'],
    ['max', 'max_ns'],
    ['threads', 'threads'],
    ['function', 'name', true],
  ]) {
    await page.locator(`table.functions thead button:text-is("${head}")`).click();
    const marks = await page.locator('table.functions th[aria-sort]').count();
    const best = [...rows].sort((a, b) =>
      isUp ? (a.name < b.name ? -1 : 1) : b[key] - a[key] || (a.name < b.name ? -1 : 1),
    )[0];
    ok(marks === 1 && (await first(page)) === best.name, `sorts by ${head}`, await first(page));
  }
  await page.locator('table.functions thead button:has-text("self")').click();
  await page.locator('#functions').focus();
  await page.keyboard.press('ArrowDown');
  ok((await now(page)) === rows[1].name, 'arrows choose a function', await now(page));
  ok((await page.textContent('#said')).includes(rows[1].name), 'it is announced');
  await page.keyboard.press('End');
  ok((await now(page)) === rows[rows.length - 1].name, 'End goes to the last');
  await page.keyboard.press('Home');
  await page.keyboard.press('/');
  await page.keyboard.type('check -row');
  const wanted = rows.filter(row => row.name.includes('check') && !row.name.includes('row'));
  ok(
    (await foot(page)).startsWith(`${wanted.length} of ${rows.length} functions shown`),
    'the search filters',
    await foot(page),
  );
  ok((await page.textContent('.hits')).includes(`${wanted.length} function`), 'and counts');
  await page.fill('#search', 'nothing_has_this_name');
  ok(
    (await page.textContent('.table-panel .empty-panel')).includes('No function matches'),
    'an empty table says why',
  );
  await page.fill('#search', 'tid:101');
  await settle(page);
  ok(
    (await page.textContent('.lead-in')).includes('1 of 12 threads (searched)'),
    'tid: restricts to threads',
    await page.textContent('.lead-in'),
  );
  await page.fill('#search', '');
  await settle(page);
}

async function card(ok, { page }, trace, asked) {
  const rows = functionRows(trace, () => null);
  const row = rows[2];
  await page.locator(`#fn${row.fn} th`).click();
  await settle(page);
  ok(
    (await page.textContent('.card .title')).includes(row.name),
    'the card is of the function chosen',
  );
  ok(
    (await page.textContent('table.stats tbody')).startsWith(row.count.toLocaleString('en-US')),
    'with its n',
  );
  const p90 = page.locator('table.stats tbody td:nth-child(5) [data-ns]');
  ok(
    (await p90.getAttribute('data-ns')) === String(row.p90_ns) &&
      !(await page.textContent('table.stats tbody')).includes('\u2264'),
    'its p90 is exact',
  );
  ok((await colours(page, '.histogram canvas')) > 4, 'a histogram is painted');
  ok((await page.textContent('.bar-tip')).includes('Log time; count as'), 'its axes are said');
  const box = await page.locator('.histogram').boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await settle(page);
  const set = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { set } = app.served.state.get();
    return (
      set && { n: set.n, total: set.total, min: set.minNs, max: set.maxNs, starts: [...set.start] }
    );
  });
  const get = key =>
    ({ fn: String(row.fn), min_ns: String(Math.ceil(set.min)), max_ns: String(set.max) })[key] ??
    null;
  const wanted = chosenCalls(trace, get);
  ok(
    set !== null && set.total === wanted.length && set.total > 0,
    'a brush makes a set of calls',
    JSON.stringify(set && set.total),
  );
  ok(
    set.starts.every((start, i) => i === 0 || start >= set.starts[i - 1]),
    'sorted by start',
  );
  ok((await fragmentOf(page)).includes('brush='), 'the address has the brush');
  const longest = [...wanted].sort((a, b) => b.end - b.start - (a.end - a.start))[0];
  ok(
    (await page.textContent('table.calls tbody tr:not(.gap)')).includes(`T${100 + longest.thread}`),
    'the slowest stands first',
  );
  ok(
    asked.some(one => one.includes('/calls?') && one.includes('sort=longest')),
    'by one question',
  );
  await page.locator('.call-list button:text-is("by thread")').click();
  await settle(page);
  const threads = new Set(wanted.map(call => call.thread)).size;
  ok((await page.locator('table.calls tbody tr').count()) === threads, 'calls by thread');
  await page.locator('table.calls tbody .row-link').first().click();
  await settle(page);
  ok(
    asked.some(one => one.includes('/histogram?') && one.includes('threads=')),
    'a thread has its own histogram',
  );
  await page.locator('.call-list button:text-is("slowest first")').click();
  await page.locator('.brush-fields input').first().fill('1us');
  await page.locator('.brush-fields input').last().focus();
  await settle(page);
  const exact = chosenCalls(
    trace,
    key => ({ fn: String(row.fn), min_ns: '1000', max_ns: String(set.max) })[key] ?? null,
  );
  ok(
    (await page.textContent('.call-list .foot')).includes(`of ${exact.length} call`),
    'the brush can be typed',
    await page.textContent('.call-list .foot'),
  );
  await page.locator('.brush-fields input').first().fill('soon');
  await page.locator('.brush-fields input').last().focus();
  ok(
    (await page.textContent('.brush-fields')).includes('a time with its unit'),
    'what is no time is refused',
  );
  await page.locator('#functions').focus();
  await page.keyboard.press('Escape');
  await settle(page);
  ok(
    (await page.evaluate(async () => (await window.weftReady).app.served.state.get().set)) === null,
    'Esc gives the set up',
  );
  for (const word of ['self', 'cumulated time']) {
    await page.locator(`.card .switch button:text-is("${word}")`).click();
    await settle(page);
  }
  ok((await page.textContent('.card > .remark')).startsWith('Self time of'), 'self time is said');
  ok((await page.textContent('.bar-tip')).includes('time as'), 'cumulated time is said');
  ok(/bars=self,time/.test(await fragmentOf(page)), 'the address has both');
  await page.mouse.move(box.x + box.width * 0.7, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await settle(page);
  const own = await page.evaluate(async () => {
    const { set } = (await window.weftReady).app.served.state.get();
    return set && { title: set.title, min: set.minNs, total: set.total, starts: [...set.start] };
  });
  const told = { fn: String(row.fn), self: '1', min_ns: String(own?.min) };
  const selves = chosenCalls(trace, key => told[key] ?? null);
  ok(
    own?.total > 0 && own.total === selves.length && own.title.includes(', self '),
    'a brush over self times makes a set of the calls that have them',
    JSON.stringify([own, selves.length]),
  );
  ok(
    JSON.stringify(own?.starts) ===
      JSON.stringify(selves.map(({ start }) => start).sort((a, b) => a - b)),
    'and they are those',
  );
  ok((await page.textContent('table.calls thead')).includes('self time'), 'listed with self times');
  await page.locator('#functions').focus();
  await page.keyboard.press('Escape');
  for (const word of ['inclusive', 'count'])
    await page.locator(`.card .switch button:text-is("${word}")`).click();
  await settle(page);
}

async function jump(ok, { page }) {
  const start = await page
    .locator('table.calls tbody td [data-ns]')
    .first()
    .getAttribute('data-ns');
  await page.locator('table.calls tbody .row-link').first().click();
  await settle(page);
  const state = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    return {
      ...app.state.get(),
      call: app.served.state.get().call,
      crumbs: app.state.get().crumbs.length,
    };
  });
  ok(
    state.screen !== 'functions' && String(state.call.start) === start,
    'a click goes to the call',
  );
  ok(
    state.window.t0 <= state.call.start && state.window.t1 >= state.call.end && state.crumbs === 1,
    'with room around it, and a crumb',
  );
  await settle(page);
  await page.goBack();
  await settle(page);
  ok((await page.locator('table.functions').count()) === 1, 'the browser\u2019s back returns');
}

async function tree(ok, { page }) {
  await page.locator('#flame').focus();
  ok((await colours(page, '.flame canvas')) > 8, 'a flame graph is painted');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const node = await page.textContent('.node-facts .title');
  ok((await page.locator('.call-stack li').count()) === 2, 'arrows walk the tree', node);
  ok(
    (await page.textContent('.node-facts')).includes('this path') &&
      (await page.textContent('.node-facts')).includes('all calls'),
    'this against all',
  );
  ok(/node=\d+\.\d+/.test(await fragmentOf(page)), 'the address names the node');
  const whole = await page.textContent('.tree-panel h2 small');
  const verbs = {
    m: 'merge',
    M: 'merge node',
    f: 'focus',
    F: 'focus subtree',
    c: 'collapse',
    C: 'collapse family',
    d: 'drop',
    r: 'collapse recursion',
    i: 'inverted',
  };
  for (const [key, word] of Object.entries(verbs)) {
    await page.keyboard.press(key);
    await settle(page);
    const said = await chips(page);
    ok(said.length === 1 && said[0].startsWith(word), `${key}: ${word} leaves a chip`, said.join());
    ok((await fragmentOf(page)).includes('tr='), `${key}: and is in the address`);
    await page.locator('.chips button').click();
    ok((await chips(page)).length === 0, `${key}: which takes it back`);
    await page.locator('#flame').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
  }
  ok(
    (await page.textContent('.tree-panel h2 small')) === whole,
    'nothing stays behind',
    `${whole}`,
  );
  await page.keyboard.press('c');
  await settle(page);
  await page.keyboard.press('i');
  await settle(page);
  ok((await chips(page)).length === 2, 'transforms add up');
  await page.goBack();
  await settle(page);
  ok((await chips(page)).length === 1, 'back takes one transform back', (await chips(page)).join());
  await page.goBack();
  await settle(page);
  await page.locator('#flame').focus();
  await page.keyboard.press('s');
  await settle(page);
  ok(
    (await page.textContent('.tree-panel h2')).startsWith('Callers and callees'),
    's shows the sandwich',
  );
  ok((await colours(page, '.flame canvas')) > 2, 'painted');
  await page.keyboard.press('s');
  await page.keyboard.press('*');
  await settle(page);
  const open = await page.locator('.tree-table tbody tr:not(.gap)').count();
  ok(open > 2, '* opens all below in the call tree', `${open} rows`);
  await page.locator('.tree-main .scroll').focus();
  await page.keyboard.press('ArrowLeft');
  await settle(page);
  await page.locator('.tree-table tr.now').first().waitFor({ timeout: PATIENCE_MS });
  ok((await page.locator('.tree-table tr.now').count()) === 1, 'arrows close and walk it');
  await page.keyboard.press('*');
  const pane = await page.locator('.tree-main .scroll').boundingBox();
  const boxOfRow = () => page.locator('.tree-table tr.now').boundingBox();
  const steps = Math.ceil(pane.height / (await boxOfRow()).height);
  for (let i = 0; i < steps; i++) await page.keyboard.down('ArrowDown'); // as a key that is held
  await page.keyboard.up('ArrowDown');
  await settle(page);
  const row = await boxOfRow();
  ok(
    row.y >= pane.y && row.y + row.height <= pane.y + pane.height + 1,
    'the selected row stays in view',
    JSON.stringify({ row, pane }),
  );
  await page.locator('.tree-main .scroll').evaluate(e => e.scrollTo(0, 0));
  await page.locator('.tree-table tbody tr:not(.gap) .twisty[aria-label=close]').first().click();
  await settle(page);
  ok(
    (await page.locator('.tree-table tr.now').count()) === 1,
    'a node that closes takes the selection of what is inside it',
  );
  await page.locator('.tree-panel button:text-is("Flame graph")').click();
  await settle(page);
  const area = await page.locator('.flame-area').boundingBox();
  await page.mouse.move(area.x + 40, area.y + 12);
  await page.locator('.tip').waitFor({ timeout: PATIENCE_MS });
  ok((await page.textContent('.tip')).includes('thread-time'), 'hover names the path and its time');
  await page.mouse.click(area.x + 40, area.y + 12);
  await settle(page);
  ok((await page.locator('.call-stack li').count()) === 1, 'click selects it');
  await page.mouse.move(5, 500);
}

async function range(ok, { page }, trace) {
  const [t0, t1] = [1e6, 3e6];
  await page.evaluate(
    async ([t0, t1]) => {
      const { app } = await window.weftReady;
      app.state.update(s => ({
        ...s,
        range: { t0, t1 },
        isPreview: false,
        picked: new Set([1, 2]),
      }));
    },
    [t0, t1],
  );
  await settle(page);
  const get = key => ({ from: String(t0), to: String(t1), threads: '1,2' })[key] ?? null;
  const rows = functionRows(trace, get);
  ok(
    (await foot(page)).includes(`of ${rows.length} function`),
    'the committed range and ticked threads count',
    await foot(page),
  );
  const words = await page.textContent('.lead-in');
  ok(
    words.includes('1\u20133') && words.includes('2 of 12 threads (ticked)'),
    'and are said',
    words,
  );
  await page.selectOption('.settings select', 'whole');
  await settle(page);
  ok(
    (await foot(page)).includes('of 60 functions'),
    'the whole trace is one choice away',
    await foot(page),
  );
  await page.selectOption('.settings select', 'range');
  await page.evaluate(async () => {
    const { app } = await window.weftReady;
    app.state.update(s => ({ ...s, range: { t0: 56e6, t1: 56e6 + 1 }, picked: new Set([3]) }));
  });
  await settle(page);
  ok((await page.textContent('.table-panel')).includes('No call'), 'an empty range says so');
  await page.evaluate(async () => {
    const { app } = await window.weftReady;
    app.state.update(s => ({ ...s, range: null, picked: new Set() }));
  });
  await settle(page);
}

/** Names, roles, landmarks: what a screen reader needs. */
async function accessible(ok, page, what) {
  const problems = await page.evaluate(() => {
    const out = [];
    const nameOf = e =>
      e.getAttribute('aria-label') ||
      e.textContent.trim() ||
      e.title ||
      (e.labels?.length ? 'label' : '');
    for (const e of document.querySelectorAll(
      'button, input, select, a, aside, nav, section, main [role]',
    ))
      if (!nameOf(e) && !e.disabled) out.push(`no name: ${e.outerHTML.slice(0, 80)}`);
    for (const e of document.querySelectorAll('canvas'))
      if (!e.closest('[aria-hidden=true]') && e.getAttribute('aria-hidden') !== 'true')
        out.push('canvas not hidden');
    for (const e of document.querySelectorAll('table th'))
      if (!e.hasAttribute('scope')) out.push(`no scope: ${e.textContent}`);
    for (const e of document.querySelectorAll('.scroll, .flame'))
      if (e.tabIndex !== 0) out.push('a pane without focus');
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    if (new Set(ids).size !== ids.length) out.push('an id twice');
    if (document.querySelectorAll('main').length !== 1) out.push('not one main');
    if (document.querySelectorAll('h1').length !== 1) out.push('not one h1');
    const over = document.documentElement.scrollWidth - innerWidth;
    if (over > 0) out.push(`${over} px too wide`);
    return out;
  });
  ok(problems.length === 0, `${what}: names, roles, landmarks`, problems.join('; '));
}

async function link(ok, browser, address, { page }) {
  await page.locator('#flame').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('f');
  await page.locator('table.stats button:text-is("p90")').click();
  await page.locator('table.functions thead button:text-is("max")').click();
  await settle(page);
  const fragment = await fragmentOf(page);
  const facts = async where => [
    ...(await where
      .locator('.chips button, .table-panel .foot, .call-list .foot, .card .title, .crumbs')
      .allTextContents()),
    await where.locator('.flame canvas').evaluate(canvas => canvas.toDataURL().length),
  ];
  await page.mouse.move(5, 500);
  const before = await facts(page);
  const again = await open(browser, address, fragment);
  await settle(again.page);
  const after = await facts(again.page);
  ok(
    JSON.stringify(before) === JSON.stringify(after),
    'a copied link shows the same',
    `${fragment} ${JSON.stringify(before)} ${JSON.stringify(after)}`,
  );
  await again.context.close();
}

async function health(ok, browser, trace) {
  const lossy = await serveFake(trace);
  const { page, context, trouble } = await open(browser, lossy.address, '#v=1&s=1');
  await page.locator('.badge.bad').waitFor({ timeout: PATIENCE_MS });
  ok(
    (await page.textContent('.badge.bad')).includes('113,899'),
    'the badge says what was lost, on every screen',
  );
  await page.click('.badge.bad');
  await settle(page);
  ok(
    (await page.evaluate(async () => (await window.weftReady).app.state.get().screen)) === 'health',
    'a click opens Health',
  );
  const text = await page.textContent('.health');
  ok(text.startsWith('Something was lost'), 'it begins with a sentence');
  ok(
    text.includes('records that the source itself lost') && text.includes('buffer_max='),
    'what was lost, and the command against it',
  );
  ok(text.includes('T100 20') && text.includes('T102 5'), 'by thread where it is known', text);
  ok(
    text.includes('2 of 60') && text.includes('2700 MHz'),
    'functions without names, and the clock',
  );
  await accessible(ok, page, 'Health');
  ok(trouble.length === 0, 'Health: no console error, no other host', trouble.join('; '));
  await context.close();
  await lossy.close();
  const well = await serveFake(trace, { notes: [] });
  const healthy = await open(browser, well.address, '#v=1&s=9');
  await settle(healthy.page);
  ok(
    (await healthy.page.textContent('.badge')) === 'nothing lost',
    'a healthy trace has a plain badge',
  );
  ok(
    (await healthy.page.textContent('.health .headline')).includes('nothing repaired'),
    'and says so',
  );
  await healthy.context.close();
  await well.close();
}

async function trouble(ok, browser, trace) {
  const refusing = await serveFake(trace, {
    refuse: name => name === 'tree' || name === 'histogram',
  });
  const { page, context } = await open(browser, refusing.address);
  await settle(page);
  ok(
    (await page.textContent('.tree-panel .trouble')).includes('there is no such answer'),
    'what failed is said where it failed',
  );
  ok((await first(page)).length > 0, 'the rest goes on');
  await context.close();
  await refusing.close();
  const slow = await serveFake(trace, { wait: name => (name === 'functions' ? 5000 : 0) });
  const late = await open(browser, slow.address);
  await late.page.locator('table.functions tbody th').first().waitFor();
  ok(
    (await foot(late.page)).includes('times of single calls are being read'),
    'before the times are there, counts are shown',
  );
  await late.page.locator('.waiting').first().waitFor({ timeout: PATIENCE_MS });
  ok(true, 'a line shows that an answer is on its way');
  await late.context.close();
  await slow.close();
}

async function many(ok, browser) {
  const trace = makeTrace({ threads: 2, functions: 60, rounds: 5 });
  const names = Array.from({ length: 50000 }, (_, i) => `function_${i}_of_many`);
  const big = await serveFake({ ...trace, names: trace.names.concat(names) }, {});
  const { page, context } = await open(browser, big.address);
  await settle(page);
  ok(/of 50,\d+ functions shown/.test(await foot(page)), '50,000 functions', await foot(page));
  ok(
    (await page.locator('table.functions tbody tr').count()) < 100,
    'only rows in view are in the document',
  );
  const ms = await page.evaluate(async () => {
    const started = performance.now();
    document.querySelector('#functions').scrollTop = 400000;
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve, 0)));
    return performance.now() - started;
  });
  console.log(`# it scrolled in ${ms.toFixed(1)} ms`);
  const first = await page.locator('table.functions tbody th').first().textContent();
  ok(/\d{4,5}_of_many/.test(first), 'it scrolls', first);
  await page.locator('#functions').focus();
  await page.keyboard.press('End');
  await settle(page);
  ok(await page.locator('table.functions tr.now').isVisible(), 'End brings the last into view');
  await context.close();
  await big.close();
}

/** A real server: what it shows is what the command says. */
async function real(ok, browser, weft, file) {
  const binary = await startBinary(weft, file);
  const server = await startBefore(binary.address);
  try {
    const { page, context, trouble } = await open(browser, server.address);
    await settle(page);
    const json = execFileSync(weft, ['functions', '-q', '--json', file], { maxBuffer: 1 << 28 });
    const told = JSON.parse(json);
    const best = told.functions[0];
    const cells = await page.evaluate(() =>
      [...document.querySelectorAll('table.functions tbody tr:not(.gap)')]
        .slice(0, 1)
        .flatMap(row =>
          [...row.querySelectorAll('[data-ns]')].map(cell => Number(cell.dataset.ns)),
        ),
    );
    const wanted = [
      'self_ns',
      'inclusive_ns',
      'min_ns',
      'mean_ns',
      'p50_ns',
      'p99_ns',
      'p999_ns',
      'max_ns',
    ];
    ok(
      JSON.stringify(cells) === JSON.stringify(wanted.map(key => best[key])),
      'a real trace: the times are the command\u2019s',
      cells.join(),
    );
    ok(
      (await page.textContent('.table-panel .foot')).includes(
        `of ${told.functions.length.toLocaleString('en-US')} function`,
      ),
      'and so is the number of functions',
    );
    const all = best.count + best.cut_count;
    ok(
      (await page.textContent('table.stats tbody')).startsWith(all.toLocaleString('en-US')),
      'the histogram holds every call',
      await page.textContent('table.stats tbody'),
    );
    await page.locator('table.stats button:text-is("p99")').click();
    const set = await page.evaluate(async () => {
      const { app } = await window.weftReady;
      const until = performance.now() + 90000; // behind what the server computes ahead
      while (!app.served.state.get().set && performance.now() < until)
        await new Promise(resolve => setTimeout(resolve, 50));
      const { set } = app.served.state.get();
      const most = set.end.reduce((most, end, i) => Math.max(most, end - set.start[i]), 0);
      return { n: set.n, total: set.total, most };
    });
    ok(
      set.total > 0 && set.most === best.max_ns,
      'the calls from p99 on hold the longest',
      JSON.stringify(set),
    );
    ok((await colours(page, '.flame canvas')) > 8, 'its flame graph is painted');
    ok(trouble.length === 0, 'no console error, no other host', trouble.join('; '));
    await context.close();
  } finally {
    server.close();
    binary.close();
  }
}

/** Runs all; `ok` counts. */
export async function testFunctions(ok, browser) {
  const trace = makeTrace({ rounds: 60 });
  const server = await serveFake(trace);
  const opened = await open(browser, server.address);
  await table(ok, opened, trace);
  await accessible(ok, opened.page, 'Functions');
  await card(ok, opened, trace, server.asked);
  await jump(ok, opened);
  await tree(ok, opened);
  await range(ok, opened, trace);
  await link(ok, browser, server.address, opened);
  ok(
    opened.trouble.length === 0,
    'Functions: no console error, no other host',
    opened.trouble.join('; '),
  );
  await opened.context.close();
  const narrow = await open(browser, server.address, '#v=1&s=7', {
    viewport: { width: 1000, height: 700 },
  });
  await settle(narrow.page);
  await accessible(ok, narrow.page, '1000 x 700');
  await narrow.context.close();
  await server.close();
  await health(ok, browser, trace);
  await trouble(ok, browser, trace);
  await many(ok, browser);
  const { WEFT_BIN, WEFT_TRACE } = process.env;
  if (WEFT_BIN && WEFT_TRACE) await real(ok, browser, WEFT_BIN, WEFT_TRACE);
}
