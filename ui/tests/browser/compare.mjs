// SPDX-License-Identifier: MIT
// Screens 5 Critical path and 6 Compare of the served page, before a made-up server; and before a
// real one if WEFT_BIN and WEFT_TRACE say which.
import { readFileSync } from 'node:fs';
import { CSV, serveCompare } from './fakecompare.mjs';
import { fragmentOf, newContext, PATIENCE_MS, settle } from './page.mjs';
import { openServed, serve } from './serve.mjs';
import { testTimelinePath } from './timelinepath.mjs';

const SUBJECT = '&cx=-1%7Cinsert%7Ccall%253Ainsert%7C%7C%7C';

async function open(browser, address, fragment, options = {}) {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const trouble = [];
  page.on('console', message => {
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) trouble.push(message.text());
  });
  page.on('pageerror', error => trouble.push(error.message));
  await page.goto(address + fragment);
  await page.evaluate(() => window.weftReady.then(() => true));
  await settle(page);
  return { page, context, trouble };
}

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

async function accessible(ok, page, name) {
  const problems = await page.evaluate(() => {
    const out = [];
    const nameOf = e =>
      e.getAttribute('aria-label') ||
      e.textContent.trim() ||
      e.title ||
      (e.labels?.length ? 'label' : '');
    for (const e of document.querySelectorAll(
      'button, input, select, a, section[aria-label], [role=application]',
    ))
      if (!nameOf(e)) out.push(`no name: ${e.outerHTML.slice(0, 80)}`);
    for (const e of document.querySelectorAll('canvas'))
      if (e.getAttribute('aria-hidden') !== 'true') out.push('canvas not hidden');
    for (const e of document.querySelectorAll('table thead th'))
      if (!e.hasAttribute('scope')) out.push(`no scope: ${e.textContent}`);
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    if (new Set(ids).size !== ids.length) out.push('an id twice');
    if (document.querySelectorAll('main').length !== 1) out.push('not one main');
    if (document.documentElement.scrollWidth > innerWidth) out.push('horizontal scrolling');
    return out;
  });
  ok(problems.length === 0, `${name}: names, roles, no horizontal scrolling`, problems.join('; '));
}

/* ---- path ------------------------------------------------------------------------------------ */

const said = page => page.locator('#said').textContent();

async function paths(ok, browser, server) {
  const { page, context, trouble } = await open(browser, server.address, '#v=1&s=5');
  ok(
    (await page.textContent('.path-empty')).includes('No path is chosen'),
    'an empty screen says how',
  );
  await page.locator('.path-form button').first().click();
  await settle(page);
  ok(
    (await page.textContent('.path-headline')).includes('unexplained'),
    'a path begins with a sentence, and says what is unexplained',
    await page.textContent('.path-headline'),
  );
  ok((await colours(page, '.path-scroll canvas')) > 4, 'its strip is painted');
  ok((await colours(page, '.path-flame canvas')) > 4, 'and so is its tree');
  const causes = await page.locator('.path-table').first().textContent();
  ok(/waits for a disk/.test(causes) && /unexplained/.test(causes), 'causes are summed', causes);
  const name = await page.evaluate(async () => (await window.weftReady).app.served.names.name[3]);
  await page.fill('.path-form input', name);
  await page.selectOption('.path-form select >> nth=1', '3');
  await page.locator('.path-form button').nth(1).click();
  await settle(page);
  const n = await page.locator('.path-labels > li').count();
  ok(n > 1, 'the longest calls of a function stack below it', `${n} paths`);
  ok((await fragmentOf(page)).includes('cp=t'), 'the address names them');
  await page.locator('#path-strip').focus();
  await page.keyboard.press('{');
  await page.keyboard.press('.');
  await settle(page);
  const first = await said(page);
  await page.keyboard.press('ArrowRight');
  const second = await said(page);
  ok(
    first !== '' && first !== second,
    'keys walk segments, and announce them',
    `${first} | ${second}`,
  );
  const box = await page.locator('.path-scroll .path-area').boundingBox();
  await page.mouse.move(box.x + 60, box.y + 54);
  await page.locator('.tip').waitFor({ timeout: PATIENCE_MS });
  ok((await page.textContent('.tip')).includes('share of the path'), 'hover tells of a segment');
  await page.mouse.move(box.x + 100, box.y + 54);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 54, { steps: 4 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  ok(!(await fragmentOf(page)).includes('cpview='), 'Esc takes a drag over the path back');
  await page.mouse.move(box.x + 100, box.y + 54);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 54, { steps: 4 });
  await page.mouse.up();
  ok((await fragmentOf(page)).includes('cpview='), 'a drag zooms');
  await page.keyboard.press('Home');
  ok(!(await fragmentOf(page)).includes('cpview='), '0 shows all');
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('.path-table th.clip')]
      .filter(e => e.scrollWidth > e.clientWidth + 1 && !e.querySelector('[title]'))
      .map(e => e.textContent),
  );
  ok(cut.length === 0, 'names in the tables are whole, or have a tool-tip', cut.join());
  const hidden = await page.evaluate(() => {
    const [scroll, area] = ['.path-scroll', '.path-scroll .path-area'].map(one =>
      document.querySelector(one),
    );
    return scroll.clientHeight - area.clientHeight;
  });
  ok(hidden === 0, 'the strip is painted as high as it is seen', String(hidden));
  await accessible(ok, page, 'Path');
  const fragment = await fragmentOf(page);
  await page.keyboard.press('Delete');
  await settle(page);
  ok((await page.locator('.path-labels > li').count()) === n - 1, 'Del takes a path away');
  await page.locator('#path-strip').focus();
  await page.keyboard.press('Enter');
  await settle(page);
  ok((await fragmentOf(page)).includes('s=2'), 'Enter shows it in the Timeline');
  await page.keyboard.press('x');
  await settle(page);
  ok((await fragmentOf(page)).includes('s=5'), 'x comes back');
  await context.close();
  const again = await open(browser, server.address, fragment);
  const linked = await again.page.locator('.path-labels > li').count();
  ok(linked === n, 'a link shows the same paths', `${n}, then ${linked}: ${fragment}`);
  trouble.push(...again.trouble);
  await again.context.close();
  ok(trouble.length === 0, 'Path: no console error', trouble.join('; '));
}

/* ---- compare --------------------------------------------------------------------------------- */

const counts = page =>
  page.evaluate(() =>
    [...document.querySelectorAll('[data-count]')].map(e => Number(e.dataset.count)),
  );

async function drag(page, selector, from, to) {
  const box = await page.locator(selector).first().boundingBox();
  const y = box.y + box.height / 3;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y, { steps: 3 });
  await settle(page); // a drag that rests is still one step of the address
  await page.mouse.move(box.x + box.width * to, y, { steps: 3 });
  await page.mouse.up();
  await settle(page);
}

async function groups(ok, browser, server) {
  const { page, context, trouble } = await open(browser, server.address, '#v=1&s=6');
  ok(
    (await page.textContent('.cmp-begin')).includes('calls that repeat'),
    'executions are proposed',
  );
  await page.locator('.cmp-subjects .row-link').first().click();
  await settle(page);
  const verdict = await page.textContent('.cmp-headline');
  ok(/B is slower by .* per insert/.test(verdict), 'the verdict comes first', verdict);
  const [a, b] = await counts(page);
  const slow = server.runs.filter((_, i) => i % 10 === 9).length;
  ok(b === slow && a === server.runs.length - slow, 'the slow tail is found', `${a} and ${b}`);
  ok((await colours(page, '.cmp-flame canvas')) > 4, 'the flame graph is painted');
  ok((await colours(page, '.cmp-plot canvas')) > 3, 'and so are histograms');
  const first = await page.locator('.cmp-ranked tbody tr').first().textContent();
  ok(
    first.includes('flush') && first.includes('journal'),
    'the first difference is the cause',
    first,
  );
  ok((await page.textContent('.cmp-ranked tfoot')).includes('unexplained'), 'unexplained is a row');
  await drag(page, '.cmp-group >> nth=1 >> .cmp-plot', 0.02, 0.5);
  const [, fewer] = await counts(page);
  ok(fewer !== b, 'a drag changes the group', `${b}, then ${fewer}`);
  const asked = server.asked.filter(({ name }) => name === 'compare').at(-1);
  ok(
    asked.query.b.includes("metric('duration')"),
    'the server is asked for it',
    JSON.stringify(asked),
  );
  const members = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    void app;
    return [...document.querySelectorAll('.cmp-verdict .remark')].map(e => e.textContent).join();
  });
  ok(members.includes(`/ ${fewer.toLocaleString('en-US')}`), 'and its count is the same', members);
  await page.goBack();
  await settle(page);
  ok(
    (await counts(page))[1] === b,
    'the browser\u2019s back undoes it',
    String(await counts(page)),
  );
  await givenUp(ok, page, b);
  await page.locator('.cmp-ranked tbody tr').first().click();
  await page.locator('#cmp-flame').focus();
  await page.keyboard.press('Alt+b');
  await settle(page);
  const chips = await page.locator('.cmp-group >> nth=1 >> .cmp-chips').textContent();
  ok(/in flush/.test(chips), 'the time in a context is a filter', chips);
  ok(
    server.asked.some(({ query }) =>
      (query.b ?? '').includes("context('insert;page_lock;journal;flush;running')"),
    ),
    'which the server is asked by its whole path',
  );
  await page.locator('.cmp-group >> nth=1 >> .cmp-chips button').last().click();
  await settle(page);
  await page.locator('.cmp-metrics button:text-is("page faults")').click();
  await settle(page);
  ok(
    (await page.locator('.cmp-group').first().locator('.cmp-hist').count()) === 5,
    'metrics are added as charts',
  );
  await page.locator('.cmp-hist .link').first().click();
  await settle(page);
  ok((await page.textContent('.cmp-hist-head')).includes('linear'), 'axes can be linear');
  await page.keyboard.press('.');
  await settle(page);
  ok((await fragmentOf(page)).includes('cnode='), '. walks differences, and the address follows');
  await page.keyboard.press('f');
  await settle(page);
  ok((await page.textContent('.cmp-flame h2')).includes('focused'), 'f focuses');
  await page.keyboard.press('Home');
  await accessible(ok, page, 'Compare');
  await linked(ok, page, browser, server);
  const csv = page.waitForEvent('download');
  await page.locator('.cmp-export button:text-is("CSV")').click();
  const saved = await csv;
  ok(saved.suggestedFilename() === 'differences.csv', 'differences are saved');
  const bytes = readFileSync(await saved.path(), 'utf8');
  ok(bytes === CSV, 'as the server writes them, byte by byte', bytes);
  const fragment = await fragmentOf(page);
  await page.locator('.cmp-executions tbody .link').first().click();
  await settle(page);
  ok((await fragmentOf(page)).includes('s=2'), 'a click opens an execution in the Timeline');
  ok((await fragmentOf(page)).includes('cp=t'), 'with its critical path');
  await testTimelinePath(ok, page, browser, server);
  await context.close();
  const again = await open(browser, server.address, fragment);
  ok(String(await counts(again.page)) === `${a},${b}`, 'a link shows the same groups');
  const bare = await open(browser, server.address, `#v=1&s=6${SUBJECT}`);
  const steps = await bare.page.evaluate(() => history.length);
  ok(steps === 2, 'groups that come by themselves are no step for "back"', String(steps));
  await bare.context.close();
  trouble.push(...again.trouble);
  await again.context.close();
  ok(trouble.length === 0, 'Compare: no console error', trouble.join('; '));
}

/** Esc takes a drag back; a click within what is chosen leaves it, one beside it takes it away. */
async function givenUp(ok, page, b) {
  const before = await fragmentOf(page);
  const box = await page.locator('.cmp-group >> nth=1 >> .cmp-plot').first().boundingBox();
  const y = box.y + box.height / 3;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await settle(page);
  ok((await counts(page))[1] === b, 'Esc takes a drag back', String(await counts(page)));
  ok((await fragmentOf(page)) === before, 'and the address is as it was');
  await page.mouse.click(box.x + box.width * 0.97, y);
  await settle(page);
  ok((await counts(page))[1] === b, 'a click within what is chosen leaves it');
  await page.mouse.click(box.x + box.width * 0.3, y);
  await settle(page);
  ok((await counts(page))[1] > b, 'one beside it takes it away', String(await counts(page)));
  await page.goBack();
  await settle(page);
}

/** Names of templates: rows stay apart, a tip and the head of the flame graph stay low. */
async function longNames(ok, browser) {
  const server = await serveCompare(400, { flush: LONG });
  const { page, context, trouble } = await open(browser, server.address, '#v=1&s=6' + SUBJECT, {
    viewport: { width: 1280, height: 800 },
  });
  const cell = page.locator('.cmp-ranked tbody th .last').first();
  const isWhole = await cell.evaluate(e => e.scrollWidth <= e.clientWidth + 1);
  ok(isWhole && (await cell.textContent()) === 'flush_all', 'the last part of a name is whole');
  const height = () => page.evaluate(() => document.querySelector('.cmp-flame h2').clientHeight);
  const before = await height();
  await page.keyboard.press('f');
  await settle(page);
  ok((await height()) <= before + 4, 'a focused name leaves the head as it is', `${before}`);
  const box = await page.locator('.cmp-area').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 4.5 * 19);
  await page.locator('.tip').waitFor({ timeout: PATIENCE_MS });
  const tip = await page.locator('.tip').boundingBox();
  ok(tip.height < 360 && tip.y + tip.height <= 800, 'a tip fits the window', JSON.stringify(tip));
  const wide = await page.evaluate(() => {
    const tip = document.querySelector('.tip');
    return tip.scrollWidth > tip.clientWidth;
  });
  ok(!wide, 'and nothing stands out of it');
  await page.locator('#cmp-flame').press('Home');
  await page.locator('body').press('/');
  await page.keyboard.type('nowhere_at_all');
  await settle(page);
  ok((await colours(page, '.cmp-flame canvas')) > 4, 'what is nowhere pales nothing');
  await context.close();
  await server.close();
  ok(trouble.length === 0, 'long names: no console error', trouble.join('; '));
}

const LONG = `store::merge<${'std::pair<std::vector<int, std::allocator<int> >, double>, '.repeat(6)}int>::flush_all(std::function<int (std::shared_ptr<int> const&)> const&) const`;

/** What a link must bring back: the groups, the charts with their axes, and how all is drawn. */
const shown = page =>
  page.evaluate(() => ({
    heads: [...document.querySelectorAll('.cmp-hist-head, .cmp-chips .crumb')].map(
      e => e.textContent,
    ),
    settings: [...document.querySelectorAll('.settings select')].map(e => e.value),
    flame: document.querySelector('.cmp-flame h2').textContent,
    now: document.querySelector('.cmp-ranked tr.now')?.textContent,
    ticked: document.querySelectorAll('.cmp-executions :checked').length,
    list: document.querySelector('.cmp-switch [aria-pressed=true]').textContent,
  }));

async function linked(ok, page, browser, server) {
  const before = await fragmentOf(page);
  await page.locator('.cmp-hist-head button').nth(1).click(); // how counts become heights
  await page.locator('.cmp-hist-head .link:text-is("linear")').last().click();
  await page.getByLabel('Width', { exact: false }).first().selectOption('a');
  await page.getByLabel('Colour', { exact: false }).first().selectOption('effect');
  await page.locator('.cmp-selected .link:text-is("its time as a chart")').click();
  await page.locator('.cmp-executions tbody input').first().check();
  await page.locator('.cmp-switch button:text-is("all")').click();
  await settle(page);
  const want = await shown(page);
  ok(want.flame.startsWith('Where A spends'), 'widths can be the mean of A', want.flame);
  ok(
    new Set(want.settings).has('log'),
    'counts are linear, square root or log',
    want.settings.join(),
  );
  ok(
    want.heads.some(text => text.startsWith('in ')),
    'a context has a chart',
    want.heads.join(),
  );
  const again = await open(browser, server.address, await fragmentOf(page));
  const got = await shown(again.page);
  ok(
    JSON.stringify(got) === JSON.stringify(want),
    'a link brings back charts, axes, counts, widths, colours, ticks',
    `${JSON.stringify(want)} | ${JSON.stringify(got)}`,
  );
  ok(again.trouble.length === 0, 'without console error', again.trouble.join('; '));
  await again.context.close();
  await page.evaluate(hash => (location.hash = hash), before);
  await settle(page);
}

/** Groups without a mouse, by tags; and names that want to be markup. */
async function keys(ok, browser, server) {
  const fragment = '#v=1&s=6' + SUBJECT;
  const { page, context, trouble } = await open(browser, server.address, fragment);
  const [a, b] = await counts(page);
  await page.locator('.cmp-group >> nth=1 >> .cmp-plot').first().focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowLeft');
  const [, fewer] = await counts(page);
  const words = await said(page);
  ok(
    fewer < b && words.startsWith('B: duration'),
    'keys move the edges of a group',
    `${b}, ${fewer}`,
  );
  ok(
    words.includes(`${fewer.toLocaleString('en-US')} of`),
    'and announce how many there are',
    words,
  );
  await page.keyboard.press('Delete');
  ok((await counts(page))[1] === server.runs.length, 'Del takes the condition away');
  await page.keyboard.press('Home');
  ok((await counts(page))[0] === a, 'the other group stays as it was');
  await page.getByLabel('Add a condition to group B').selectOption({ label: 'page faults' });
  await settle(page);
  const charts = await page.locator('.cmp-group >> nth=1 >> .cmp-hist').count();
  ok(charts === 4, 'a metric is added from the list of conditions', String(charts));
  await context.close();
  ok(trouble.length === 0, 'keys: no console error', trouble.join('; '));
}

async function verdicts(ok, browser) {
  const server = await serveCompare(400, {
    verdict: {
      answer: 'B is 1 ms slower than A; 90 % of that is in `a > <img src=x>`',
      grounds: 'Executions were counted, of 1 run of A and 1 of B: too few',
    },
  });
  const fragment = '#v=1&s=6' + SUBJECT;
  const { page, context, trouble } = await open(browser, server.address, fragment);
  const html = await page.innerHTML('.cmp-headline');
  const text = await page.textContent('.cmp-headline');
  ok(
    text === 'B is 1 ms slower than A; 90 % of that is in a \u203a <img src=x>.',
    'names of the verdict stand without back-ticks, what was counted is no part of it',
    text,
  );
  ok(html.includes('<code') && !html.includes('<img'), 'as code, and never as markup', html);
  const remark = await page.textContent('.cmp-verdict .remark');
  ok(remark.includes('Executions were counted'), 'what was counted is the remark', remark);
  await context.close();
  await server.close();
  ok(trouble.length === 0, 'verdict: no console error', trouble.join('; '));
}

/** A database without a trace: nothing is asked of a trace, and nothing said of one. */
async function alone(ok, browser) {
  const server = await serveCompare(200, { isAlone: true });
  const { page, context, trouble } = await open(browser, server.address, '');
  const verdict = await page.textContent('.cmp-headline');
  ok(verdict.includes('slower'), 'a database alone is compared at once', verdict);
  const failed = server.asked.filter(({ name, query }) => name === 'lod' || 'trace' in query);
  ok(failed.length === 0, 'and nothing is asked of a trace', JSON.stringify(failed));
  const top = await page.textContent('.top');
  ok(/runs\.db.*database of executions/.test(top), 'the head names the database', top);
  ok((await page.textContent('.cmp-tools')).includes('of runs.db'), 'and so do the executions');
  await accessible(ok, page, 'a database alone');
  await context.close();
  await server.close();
  ok(trouble.length === 0, 'a database alone: no console error', trouble.join('; '));
}

/** One execution in each group, and none in one of them: there are no intervals. */
async function few(ok, browser) {
  const server = await serveCompare(2);
  for (const [groups, name] of [
    ['', 'one execution each'],
    ['&A=m~duration~~1&B=', 'an empty group'],
  ]) {
    const opened = await open(browser, server.address, '#v=1&s=6' + SUBJECT + groups);
    const { page, context, trouble } = opened;
    const drawn = await page.innerHTML('.cmp-main');
    ok(!/NaN|Infinity/.test(drawn), `${name}: no number that is none`);
    ok(trouble.length === 0, `${name}: no console error`, trouble.join('; '));
    await context.close();
  }
  await server.close();
}

/** What an empty group has no mean of is not told as if it had. */
async function empty(ok, browser) {
  const server = await serveCompare(100);
  const none = 'm~duration~~1';
  for (const [groups, words, means] of [
    [`&A=${none}&B=`, 'Nothing to compare: group A has', 3],
    [`&A=&B=${none}`, 'Nothing to compare: group B has', 3],
    [`&A=${none}&B=${none}`, 'Nothing to compare: group A, and group B,', 0],
  ]) {
    const opened = await open(browser, server.address, '#v=1&s=6' + SUBJECT + groups);
    const { page, context, trouble } = opened;
    const headline = await page.textContent('.cmp-headline');
    ok(headline.startsWith(words), `${words}: so says the headline`, headline);
    const ranked = await page.textContent('.cmp-ranked');
    const rows = await page.locator('.cmp-ranked tr, .cmp-causes').count();
    ok(/ empty: /.test(ranked) && rows === 0, `${words}: no differences to nothing`, ranked);
    const heads = await page.locator('.cmp-hist-head').allTextContents();
    const told = heads.filter(text => text.includes('mean')).length;
    ok(told === means, `${words}: no mean of none`, heads.join(' | '));
    const remark = await page.textContent('.cmp-verdict .remark');
    const flame = await page.textContent('.cmp-flame h2');
    ok(!remark.includes('Mean') && !flame.includes('against'), `${words}: nor a comparison`, flame);
    await accessible(ok, page, words);
    ok(trouble.length === 0, `${words}: no console error`, trouble.join('; '));
    await context.close();
  }
  await server.close();
}

/** What the slow ones are slow for: the first few, and more when one asks. */
async function causes(ok, browser) {
  const server = await serveCompare(400, { nCauses: 15 });
  const opened = await open(browser, server.address, '#v=1&s=6' + SUBJECT);
  const { page, context, trouble } = opened;
  const listed = () => page.locator('.cmp-causes li').count();
  const more = page.locator('.cmp-causes button[aria-expanded]');
  const isOpen = () => more.getAttribute('aria-expanded');
  ok((await listed()) === 3 && (await more.textContent()) === '12 more', 'three causes, and more');
  await more.click();
  const last = await page.locator('.cmp-causes li').last().textContent();
  ok((await listed()) === 13 && last === '3 smaller groups not listed', 'a dozen at most', last);
  await more.click();
  ok((await listed()) === 3 && (await isOpen()) === 'false', 'and fewer again');
  await more.click();
  await page.locator('.cmp-causes li .row-link').nth(8).click();
  await settle(page);
  const list = await page.locator('.cmp-executions tbody tr:not(.gap)').count();
  ok(list === 3, 'a cause lists its executions', String(list)); // of 40, the 9th of 15
  await more.click();
  await settle(page);
  const pressed = await page.locator('.cmp-causes [aria-pressed=true]').count();
  ok((await listed()) === 3 && pressed === 0, 'one that is chosen is let go with the others');
  await accessible(ok, page, 'causes');
  await context.close();
  await server.close();
  ok(trouble.length === 0, 'causes: no console error', trouble.join('; '));
}

async function narrow(ok, browser, server) {
  for (const scheme of ['light', 'dark'])
    for (const [fragment, name] of [
      ['#v=1&s=6' + SUBJECT, 'Compare'],
      ['#v=1&s=5&cp=t101.0-1', 'Path'],
    ]) {
      const options = { viewport: { width: 1000, height: 700 }, colorScheme: scheme };
      const { page, context, trouble } = await open(browser, server.address, fragment, options);
      await accessible(ok, page, `${name}, 1000 x 700, ${scheme}`);
      ok(trouble.length === 0, `${name}: without trouble`, trouble.join('; '));
      await context.close();
    }
}

async function refused(ok, browser, server) {
  const fragment = '#v=1&s=6&cx=-1%7Cx%7Ccall%253Anothing%7C%7C%7C';
  const { page, context } = await open(browser, server.address, fragment);
  ok(
    (await page.textContent('.cmp-trouble')).includes('nothing is called nothing'),
    'what the server refuses is told',
  );
  await context.close();
}

/** How long the page takes for a step of a drag over very many executions: told, not judged. */
async function many(ok, browser) {
  const server = await serveCompare(100_000);
  const { page, context } = await open(browser, server.address, '#v=1&s=6' + SUBJECT);
  await page.locator('.cmp-group').first().waitFor({ timeout: PATIENCE_MS });
  await settle(page, 60000);
  const box = await page.locator('.cmp-group >> nth=1 >> .cmp-plot').first().boundingBox();
  await page.mouse.move(box.x + 60, box.y + 40);
  await page.mouse.down();
  await page.evaluate(() => {
    window.frames_ms = [];
    let last = performance.now();
    const tick = now => {
      window.frames_ms.push(now - last);
      last = now;
      if (!window.framesAreCounted) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  for (let i = 0; i < 6; i++) await page.mouse.move(box.x + 60 + i * 40, box.y + 40);
  const frames = await page.evaluate(() => {
    window.framesAreCounted = true; // else the page never rests
    return window.frames_ms;
  });
  await page.mouse.up();
  await settle(page, 60000);
  const [, b] = await counts(page);
  frames.sort((x, y) => x - y);
  const at = share => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))] ?? 0;
  console.log(
    `# 100,000 executions: ${frames.length} frames of a drag, median ${at(0.5).toFixed(1)} ms, p95 ${at(0.95).toFixed(1)} ms`,
  );
  ok(b > 0 && b < 100_000, '100,000 executions are brushed', String(b));
  await context.close();
  await server.close();
}

/** A real server with a real trace: executions by calls of its own. */
async function real(ok, browser, weft, trace) {
  const server = await serve(weft, [trace], ['-q']);
  const opened = await openServed(browser, `${server.url}#v=1&s=6`);
  try {
    const { page } = opened;
    const rows = page.locator('.cmp-subjects .row-link');
    await rows.first().waitFor({ timeout: PATIENCE_MS });
    await rows.first().click();
    await page.locator('.cmp-ranked').waitFor({ timeout: PATIENCE_MS });
    ok(
      (await counts(page)).every(n => n >= 0),
      'a real trace: executions are compared',
    );
    ok(opened.trouble.length === 0, 'without trouble', opened.trouble.join('; '));
  } finally {
    await opened.context.close();
    await server.stop();
  }
}

/** Runs all; `ok` counts. */
export async function testCompare(ok, browser) {
  const server = await serveCompare(400);
  await paths(ok, browser, server);
  await groups(ok, browser, server);
  await keys(ok, browser, server);
  await verdicts(ok, browser);
  await few(ok, browser);
  await empty(ok, browser);
  await causes(ok, browser);
  await alone(ok, browser);
  await narrow(ok, browser, server);
  await longNames(ok, browser);
  await refused(ok, browser, server);
  await server.close();
  await many(ok, browser);
  const { WEFT_BIN, WEFT_TRACE } = process.env;
  if (WEFT_BIN && WEFT_TRACE) await real(ok, browser, WEFT_BIN, WEFT_TRACE);
}
