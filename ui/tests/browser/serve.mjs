// SPDX-License-Identifier: MIT
// Starts `weft serve`, and opens its page; asks the same program for what the page must say.
import { execFileSync, spawn } from 'node:child_process';
import { newContext, settle } from './page.mjs';

/** Serves `files`; resolves to its address and how to end it. */
export async function serve(weft, files, options = []) {
  const server = spawn(weft, ['serve', ...options, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    server.stdout.on('data', text => {
      said += text;
      const found = /http:\/\/\S+\/[0-9a-f]{32}\//.exec(said);
      if (found) resolve(found[0]);
    });
    server.on('exit', code => reject(new Error(`weft serve ended with ${code}`)));
  });
  const stop = () =>
    new Promise(resolve => {
      server.removeAllListeners('exit');
      server.on('exit', resolve);
      server.kill('SIGTERM');
    });
  return { url, stop };
}

/** What the program says as JSON. */
export function ask(weft, command, trace, ...options) {
  const text = execFileSync(weft, [command, '-q', '--json', ...options, trace], {
    maxBuffer: 1 << 30,
  });
  return JSON.parse(text.toString());
}

/** A page of the server, with what went wrong in it. An address without a fragment is of the Overview;
 * one that ends with "#" is what a user opens first. */
export async function openServed(browser, url, options = {}) {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const trouble = [];
  const { host } = new URL(url);
  page.on('console', message => message.type() === 'error' && trouble.push(message.text()));
  page.on('pageerror', error => trouble.push(String(error.stack)));
  page.on('response', async response => {
    if (response.status() < 400) return;
    trouble.push(`${response.url().replace(/^.*api/, 'api')}: ${await response.text()}`);
  });
  page.on('request', request => {
    if (new URL(request.url()).host !== host) trouble.push(`request ${request.url()}`);
  });
  const started = Date.now();
  await page.goto(url.includes('#') ? url : `${url}#v=1&s=1`);
  await page.evaluate(() => window.weftReady.then(() => true));
  return { page, context, trouble, first_ms: Date.now() - started };
}

/** Waits until nothing is asked of the server and everything is painted. */
export async function quiet(page, patience_ms = 120000) {
  await page.evaluate(async patience => {
    const { app } = await window.weftReady;
    const until = performance.now() + patience;
    const rest = ms => new Promise(resolve => setTimeout(resolve, ms));
    const isBusy = () => {
      const { progress, wanted, shapesProgress } = app.live.state.get();
      const { waiting } = app.served.source.link.get();
      return progress || wanted || shapesProgress || waiting > 0;
    };
    for (let calm = 0; calm < 4; calm = isBusy() ? 0 : calm + 1) {
      if (performance.now() > until) throw new Error('the page does not come to rest');
      await window.weftAtRest(1000); // a question that takes longer is one that is waited for
      await rest(8);
    }
  }, patience_ms);
  await settle(page);
}
