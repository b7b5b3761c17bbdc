// SPDX-License-Identifier: MIT
// The report and the served page of a trace whose names are hostile: they work, no script but their own
// runs in them, however it got there, and no character hides text or turns it around.
// usage: node policy.mjs WEFT TRACE.weft REPORT.html FOLDER. Prints TAP.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium, makeTap, newContext, openBrowser } from './page.mjs';
import { openServed, quiet, serve } from './serve.mjs';

const [weft, trace, report, folder] = process.argv.slice(2);
const { ok, end, threw } = makeTap(280);

// eslint-disable-next-line no-control-regex
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2067\ufeff]/u;

const INJECTED =
  '<script>window.injected = 1</script><img src="x" onerror="window.injected = 2">' +
  '<svg onload="window.injected = 3"></svg><script src="data:text/javascript,window.injected=4"></script>' +
  '<style>#app { display: none }</style><iframe srcdoc="<script>parent.injected = 5</script>"></iframe>' +
  '<base href="https://evil.example/"><form action="https://evil.example/"></form>';

/** What a script in the page can do to run another one. */
const inject = page =>
  page.evaluate(async () => {
    const add = (name, values) =>
      document.body.append(Object.assign(document.createElement(name), values));
    add('script', { textContent: 'window.injected = 11' });
    add('script', { src: 'data:text/javascript,window.injected=12' });
    add('script', { src: URL.createObjectURL(new Blob(['window.injected = 13'])) });
    add('div', { innerHTML: '<img src="x" onerror="window.injected = 14">' });
    await new Promise(resolve => setTimeout(resolve, 500));
    return window.injected ?? null;
  });

const textOf = page =>
  page.evaluate(() => {
    const titles = [...document.querySelectorAll('[title], [aria-label]')].map(
      one => `${one.title} ${one.ariaLabel ?? ''}`,
    );
    return [document.title, document.body.innerText, ...titles].join('\n');
  });

async function openFile(browser, path) {
  const context = await newContext(browser, {});
  const page = await context.newPage();
  const trouble = [];
  page.on('console', message => message.type() === 'error' && trouble.push(message.text()));
  page.on('pageerror', error => trouble.push(error.message));
  await page.goto(`file://${path}`);
  await page.evaluate(() => window.weftReady.then(() => true));
  return { page, trouble };
}

async function checkReport(browser) {
  const html = readFileSync(report, 'utf8');
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  ok(
    !policy.includes('unsafe') && policy.startsWith("default-src 'none'; script-src 'sha256-"),
    'a policy by hash',
    policy,
  );
  const { page, trouble } = await openFile(browser, report);
  ok(trouble.length === 0, 'the report works', trouble.join('; '));
  await page.waitForFunction(() => /evil/.test(document.body.innerText)).catch(() => undefined);
  const text = await textOf(page);
  ok(
    /evil/.test(text) && !HIDDEN.test(text),
    'its text hides nothing',
    HIDDEN.exec(text)?.[0].codePointAt(0).toString(16),
  );
  ok((await inject(page)) === null, 'a script that is added later does not run');
  for (const [name, place] of [
    ['head', '</head>'],
    ['body', '<div id="app">'],
    ['end', '</body>'],
  ]) {
    const path = join(folder, `injected-${name}.html`);
    writeFileSync(
      path,
      html.replace(place, () => INJECTED + place),
    );
    const { page: other } = await openFile(browser, path);
    await other.waitForTimeout(500);
    const found = await other.evaluate(() => [
      window.injected ?? null,
      getComputedStyle(document.getElementById('app')).display,
      document.baseURI.startsWith('file:'),
    ]);
    ok(
      found[0] === null && found[1] !== 'none' && found[2],
      `what is injected in the ${name} does nothing`,
      found.join(' '),
    );
  }
}

async function checkServed(browser) {
  const { url, stop } = await serve(weft, [trace]);
  const { page, trouble } = await openServed(browser, url);
  await quiet(page);
  ok(trouble.length === 0, 'the served page works', trouble.join('; '));
  const text = await textOf(page);
  ok(
    /evil/.test(text) && !HIDDEN.test(text),
    'its text hides nothing',
    HIDDEN.exec(text)?.[0].codePointAt(0).toString(16),
  );
  ok((await inject(page)) === null, 'a script that is added later does not run in it');
  const context = await newContext(browser, {});
  const other = await context.newPage();
  await other.route(url, async route => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      '<div id="app">',
      () => `${INJECTED}<div id="app">`,
    );
    await route.fulfill({ response, body });
  });
  await other.goto(url);
  await other.evaluate(() => window.weftReady.then(() => true));
  await other.waitForTimeout(500);
  const injected = await other.evaluate(() => window.injected ?? null);
  ok(injected === null, 'what is injected in it does not run', String(injected));
  await stop();
}

if (!findChromium()) {
  console.log('1..0 # SKIP no Chromium');
  process.exit(0);
}
try {
  const browser = await openBrowser();
  await checkReport(browser);
  await checkServed(browser);
  await browser.close();
} catch (error) {
  threw(error);
}
end();
