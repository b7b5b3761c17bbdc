// SPDX-License-Identifier: MIT
// Reports that weft wrote of traces of several sorts: each opens on its findings, says what
// `weft diagnose` says, and every button leads to a screen that shows something, without a server.
// usage: node report.mjs WEFT FOLDER NAME..., with NAME.weft and NAME.html in the folder. Prints TAP.
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { troubleOf, walkByTab } from './access.mjs';
import { findChromium, makeTap, openBrowser, openFile, settle } from './page.mjs';
import { ask } from './serve.mjs';

const [weft, folder, ...names] = process.argv.slice(2);
const { ok, end, threw } = makeTap(560);
const open = async (browser, path, options) => {
  const opened = await openFile(browser, path, options);
  await settle(opened.page);
  return opened;
};
const plain = text => text.replace(/\u00a0/g, ' ');

const stateOf = page =>
  page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { screen, range } = app.state.get();
    return { screen, range, screens: app.screens.map(({ key }) => key) };
  });

/** What a screen shows, if it shows something. */
const HEADS = {
  findings: '.fnd-headline',
  path: '.path-headline',
  compare: '.cmp-headline',
  overview: '.story .headline',
  patterns: '.page',
};

/** Why the screen at hand is empty; '' if it is not. */
async function emptiness(page) {
  await settle(page);
  const { screen } = await stateOf(page);
  const alerts = await page.locator('[role=alert]').allInnerTexts();
  if (alerts.length > 0) return `${screen}: ${alerts.join('; ')}`;
  const head = plain(await page.locator(HEADS[screen]).first().innerText());
  if (screen === 'path' && !/took .*\d/.test(head)) return `no path: ${head}`;
  if (screen === 'path' && (await page.locator('.path-main table tbody tr').count()) === 0)
    return 'no sums of the path';
  if (screen === 'compare' && !/n = .*\d/.test(head)) return `no verdict: ${head}`;
  if (screen === 'compare' && (await page.locator('.cmp-executions tbody tr').count()) < 2)
    return 'no executions';
  return head.length > 5 ? '' : `${screen} says "${head}"`;
}

/** What the page says of the trace, against the program. */
async function says(page, answer, name) {
  const { screen } = await stateOf(page);
  ok(screen === 'findings', `${name}: the report opens on its findings`, screen);
  const big = answer.findings.filter(({ small }, i) => !small || i === 0);
  const cards = page.locator('.fnd-card');
  ok((await cards.count()) === big.length, `${name}: a card for each finding that matters`);
  for (const [i, finding] of big.entries()) {
    const text = plain(await cards.nth(i).innerText());
    const words = [finding.title, finding.symptom, finding.evidence, finding.fix];
    const lacking = words.filter(one => !text.includes(plain(one)));
    ok(lacking.length === 0, `${name}: card ${i + 1} says what diagnose says`, lacking.join('; '));
  }
  if (big.length > 0) return;
  const text = plain(await page.locator('.fnd').innerText());
  ok(text.includes('Nothing significant'), `${name}: a healthy trace says so`);
  const listed = await page.locator('.fnd-healthy > ul > li').count();
  ok(listed > 0, `${name}: and what was looked at`, `${listed} lines`);
}

/** Every button of every card: one click to what it names. */
async function leads(page, answer, name) {
  const big = answer.findings.filter(({ small }, i) => !small || i === 0);
  for (const [i, finding] of big.entries()) {
    const buttons = page.locator('.fnd-card').nth(i).locator('.fnd-actions button');
    const n = await buttons.count();
    ok(n > 0, `${name}: card ${i + 1} has a way to its proof`);
    for (let k = 0; k < n; k++) {
      const label = await buttons.nth(k).innerText();
      await buttons.nth(k).click();
      const wrong = await emptiness(page);
      const { screen, range } = await stateOf(page);
      ok(screen !== 'findings' && wrong === '', `${name}: "${label}" shows ${screen}`, wrong);
      const isWorst =
        screen === 'compare' ||
        (range?.t0 === finding.worst_start_ns && range.t1 === finding.worst_end_ns);
      ok(isWorst, `${name}: ${screen} has the worst execution as the range`, `${range?.t0}`);
      if (screen === 'compare') await compares(page, answer, finding, name);
      await page.goBack();
      await settle(page);
    }
  }
  await slowest(page, name);
}

/** The numbers of the comparison are those of the finding, though only some executions are there. */
async function compares(page, answer, finding, name) {
  const { tail, executions } = answer.types.find(({ type }) => type === finding.type);
  const text = plain(await page.locator('.cmp-main').innerText());
  const words = [tail.n_fast, tail.n_slow].map(n => n.toLocaleString('en-US')).join(' and ');
  ok(text.includes(`n = ${words}`), `${name}: both groups are those of the finding`, words);
  const all = executions.toLocaleString('en-US');
  ok(text.includes(`of ${all} (grey)`.replace(' (grey)', '')), `${name}: and of all of them`, all);
  const inputs = await page.locator('.cmp-groups button:not(.link), .cmp-groups select').count();
  ok(inputs === 0, `${name}: groups that cannot be changed have no controls`, `${inputs}`);
}

async function slowest(page, name) {
  const buttons = page.locator('.fnd-slowest button');
  const lines = await page.locator('.fnd-slowest li').count();
  ok((await buttons.count()) === lines, `${name}: each slowest execution has its path`, `${lines}`);
  if (lines === 0) return;
  const text = plain(await page.locator('.fnd-slowest').innerText());
  ok(/%\)/.test(text), `${name}: and says on what it depended`, text);
  await buttons.first().click();
  const wrong = await emptiness(page);
  ok(wrong === '', `${name}: the path of the slowest is shown`, wrong);
  await page.goBack();
  await settle(page);
}

/** Each screen that the page offers. */
async function rail(page, name) {
  const { screens } = await stateOf(page);
  for (const screen of screens) {
    await page.evaluate(async key => {
      const { app } = await window.weftReady;
      const link = [...document.querySelectorAll('.rail a')][
        app.screens.findIndex(one => one.key === key)
      ];
      link.click();
    }, screen);
    const wrong = await emptiness(page);
    ok(wrong === '', `${name}: ${screen} is not empty`, wrong);
  }
  await page.keyboard.press('0');
  await settle(page);
}

async function looks(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await settle(page);
    const wrong = await troubleOf(page);
    ok(wrong.length === 0, `${name} ${colorScheme}: contrast, names`, wrong.slice(0, 3).join());
  }
  const { trouble } = await walkByTab(page);
  ok(trouble.length === 0, `${name}: Tab goes through all of it`, trouble.join());
}

const ANSWER = /<script class="weft-answer" data-question="([^"]*)"[^>]*>([^<]*)</g;

const PACKED =
  /<script (?:id="(weft-data)"|class="weft-answer" data-question="([^"]*)")[^>]*>([^<]*)</g;

/** What report.sh called a folder, a user and a host. */
const PRIVATE = ['planted-folder', 'planted-user', 'planted-host'];

/** The parts of a page that say where it was recorded, or on which machine. */
function revealing(html) {
  const names = [...PRIVATE, folder, ...(hostname().length > 5 ? [hostname()] : [])];
  const parts = [...html.matchAll(PACKED)].map(([, data, question, packed]) => ({
    part: data ?? question,
    text: gunzipSync(Buffer.from(packed, 'base64')).toString('latin1'),
  }));
  parts.push({ part: 'the page', text: html });
  return {
    n: parts.length,
    found: parts.filter(({ text }) => names.some(one => text.includes(one))).map(one => one.part),
  };
}

/** Nothing in it says where it was recorded, or on which machine. */
function isPrivate(name) {
  const html = readFileSync(join(folder, `${name}.html`), 'utf8');
  const { n, found } = revealing(html);
  ok(n > 4, `${name}: data and answers are inside`, `${n}`);
  ok(found.length === 0, `${name}: no folder, no user, no host`, found.join());
  ok(html.length <= 2_000_000, `${name}: at most 2 MB`, `${html.length}`);
}

/** A page that may have folders has them: the search finds what there is. */
function isSearched() {
  const { found } = revealing(readFileSync(join(folder, 'with-paths.html'), 'utf8'));
  ok(found.includes('weft-data'), 'with paths: the folder is in the data', found.join());
  ok(found.length > 1, 'and in answers', found.join());
}

async function testOf(browser, name) {
  const answer = ask(weft, 'diagnose', join(folder, `${name}.weft`));
  const { page, context, trouble } = await open(browser, join(folder, `${name}.html`));
  await says(page, answer, name);
  await leads(page, answer, name);
  await rail(page, name);
  await looks(page, name);
  isPrivate(name);
  ok(trouble.length === 0, `${name}: nothing is loaded, nothing fails`, trouble.join('; '));
  await context.close();
}

/** An answer that is damaged takes no other with it. */
async function damaged(browser, name) {
  const html = readFileSync(join(folder, `${name}.html`), 'utf8');
  for (const question of ['threads', 'diagnose']) {
    const path = join(folder, `damaged-${question}.html`);
    const bad = html.replace(ANSWER, (all, own, packed) =>
      own === question ? all.replace(packed, 'AAAA') : all,
    );
    writeFileSync(path, bad);
    const { page, context } = await open(browser, path);
    const { screens } = await stateOf(page);
    const text = plain(await page.locator('.page').innerText());
    ok(screens.includes('overview'), `without ${question} there is the rest`, screens.join());
    ok(
      /missing|no diagnosis/i.test(text),
      `and the page says that ${question} failed`,
      text.slice(0, 400),
    );
    await context.close();
  }
}

async function without(browser) {
  const { page, context, trouble } = await open(browser, join(folder, 'without.html'));
  const { screen, screens } = await stateOf(page);
  ok(screen === 'overview' && !screens.includes('findings'), 'without findings: the Overview');
  ok(trouble.length === 0, 'and nothing fails', trouble.join('; '));
  await context.close();
}

async function run() {
  if (!findChromium()) {
    console.log('1..0 # SKIP no Chromium');
    process.exit(0);
  }
  const browser = await openBrowser();
  try {
    for (const name of names) await testOf(browser, name);
    isPrivate('planted');
    isSearched();
    await damaged(browser, names[0]);
    await without(browser);
  } catch (error) {
    threw(error);
  }
  await browser.close();
  end();
}

await run();
