// SPDX-License-Identifier: MIT
// Screen 0 on fresh recordings of a server with a planted fault, and of one without: what the page says
// is what `weft diagnose` says, and each button of a card leads to the screen that shows it.
// usage: node findings.mjs WEFT FOLDER, with lock.weft and healthy.weft in the folder. Prints TAP.
import { join } from 'node:path';
import { troubleOf, walkByTab } from './access.mjs';
import { findChromium, makeTap, openBrowser, settle } from './page.mjs';
import { ask, openServed, quiet, serve } from './serve.mjs';

const [weft, folder] = process.argv.slice(2);
const { ok, end, threw } = makeTap(560);
const plain = text => text.replace(/\u00a0/g, ' ');

const screenOf = page =>
  page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { screen, range } = app.state.get();
    return { screen, range };
  });

/** What the page says of the trace, against the program. */
async function says(page, answer) {
  const { screen } = await screenOf(page);
  ok(screen === 'findings', 'a trace opens with its findings', screen);
  const big = answer.findings.filter(({ small }, i) => !small || i === 0);
  const cards = page.locator('.fnd-card');
  ok((await cards.count()) === big.length, 'a card for each that matters');
  for (const [i, finding] of big.entries()) {
    const text = plain(await cards.nth(i).innerText());
    const words = [finding.title, finding.symptom, finding.evidence, finding.fix];
    const lacking = words.filter(one => !text.includes(plain(one)));
    ok(lacking.length === 0, `card ${i + 1} says what diagnose says`, lacking.join('; '));
  }
  const head = plain(await page.locator('.fnd-about').innerText());
  ok(head.includes(`${answer.trace.threads} threads`), 'the headline has the threads', head);
  ok(
    answer.findings.length > 0 ||
      answer.types.some(({ significant }) => significant) ||
      plain(await page.locator('.fnd').innerText()).includes('Nothing'),
    'without findings it says so',
  );
  const bad = new Set(answer.findings.map(({ type }) => type));
  const healthy = answer.types.filter(({ type, significant }) => !significant && !bad.has(type));
  const listed = await page.locator('.fnd-healthy > ul:not(.fnd-slow) > li').count();
  ok(listed === healthy.length, 'what is no problem is listed', `${listed} of ${healthy.length}`);
}

const WAYS = [
  ['Enter', 'path'],
  ['t', 'timeline'],
  ['c', 'compare'],
  ['i', 'interplay'],
];

/** Each way there and back. */
async function leads(page, finding) {
  for (const [key, wanted] of WAYS) {
    if (key === 'c' && finding.critical_path) continue;
    await page.locator('.fnd-card').first().focus();
    await page.keyboard.press(key);
    await quiet(page);
    const { screen, range } = await screenOf(page);
    ok(screen === wanted, `${key} leads to ${wanted}`, screen);
    const isWorst = range?.t0 === finding.worst_start_ns && range.t1 === finding.worst_end_ns;
    ok(key === 'c' || isWorst, `${wanted} has the worst execution as the range`, `${range?.t0}`);
    await page.goBack();
    await quiet(page);
    ok((await screenOf(page)).screen === 'findings', 'and back again');
  }
  await page.locator('.fnd-actions button').first().click();
  await quiet(page);
  const sentence = await page.locator('.path-headline').innerText();
  ok(/\d/.test(sentence), 'one click from the first screen to the path of the worst', sentence);
  await page.goBack();
  await quiet(page);
}

async function pictures(page, finding) {
  const strips = page.locator('.fnd-card').first().locator('.fnd-lane');
  await strips.first().waitFor();
  ok((await strips.count()) >= (finding.holder ? 2 : 1), 'the worst execution, and its holder');
  const widths = await page
    .locator('.fnd-card')
    .first()
    .locator('.fnd-whole')
    .evaluateAll(all => all.map(one => one.getBoundingClientRect().width));
  ok(widths[1] > widths[0], 'slow is longer than usual', widths.join());
}

/** Names, roles, contrast; nothing wider than the page. */
async function looks(page) {
  for (const width of [1280, 800]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await settle(page);
      const wrong = await troubleOf(page);
      ok(wrong.length === 0, `${width} ${colorScheme}: contrast, names`, wrong.slice(0, 3).join());
    }
    const over = await page.evaluate(() => {
      const own = document.querySelector('.fnd');
      return own.scrollWidth - own.clientWidth;
    });
    ok(over <= 0, `${width}: nothing is cut off`, `${over}`);
  }
  const { stops, trouble } = await walkByTab(page);
  ok(stops > 8 && trouble.length === 0, 'Tab goes through all of it', trouble.join());
}

/** An answer that fails, and one that is late. */
async function without(browser, url) {
  const { page, context } = await openServed(browser, `${url}#v=1&s=1`);
  let isBroken = true;
  await page.route('**/api/diagnose*', async route => {
    if (isBroken) return route.fulfill({ status: 500, body: '{"error":{"message":"no luck"}}' });
    await new Promise(resolve => setTimeout(resolve, 2500));
    return route.continue();
  });
  await page.keyboard.press('0');
  await page.locator('.fnd-failed').waitFor();
  const said = await page.locator('.fnd-failed').innerText();
  ok(
    said.includes('no luck') && said.includes('weft diagnose'),
    'an error says how to go on',
    said,
  );
  isBroken = false;
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.locator('.fnd-waiting .progress').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  ok(true, 'what takes long says so, and can be cancelled');
  await page.locator('.fnd-about').waitFor();
  ok(true, 'and the answer comes');
  await context.close();
}

async function testOf(browser, name) {
  const trace = join(folder, `${name}.weft`);
  const server = await serve(weft, [trace]);
  try {
    const answer = ask(weft, 'diagnose', trace);
    const { page, context, trouble } = await openServed(browser, `${server.url}#`);
    await quiet(page);
    await says(page, answer);
    const [first] = answer.findings;
    if (first) {
      await leads(page, first);
      await pictures(page, first);
    }
    await looks(page);
    ok(trouble.length === 0, `${name}: no trouble`, trouble.join('; '));
    await context.close();
    if (name === 'lock') await without(browser, server.url);
  } finally {
    await server.stop();
  }
}

async function main() {
  if (!weft || !folder || !findChromium()) {
    console.log(`1..0 # SKIP ${folder ? 'no Chromium' : 'usage: findings.mjs WEFT FOLDER'}`);
    return;
  }
  const browser = await openBrowser();
  try {
    for (const name of ['lock', 'healthy']) await testOf(browser, name);
  } catch (error) {
    threw(error);
  } finally {
    await browser.close();
  }
  end();
}

await main();
