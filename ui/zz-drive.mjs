// scratch driver
import { readFileSync } from 'node:fs';
import { openBrowser } from './tests/browser/page.mjs';
import { openServed, quiet, serve } from './tests/browser/serve.mjs';
import { newContext, settle } from './tests/browser/page.mjs';
const D = '/work/wt/screens/ui/dist/';
export async function start(files) {
  const server = await serve('/work/wt/screens/build/release/weft', files);
  const browser = await openBrowser();
  return { server, browser };
}
export async function open(browser, url, frag = '', options = {}) {
  const context = await newContext(browser, { colorScheme: 'dark', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.on('pageerror', e => console.log('PAGEERROR', e.stack));
  page.on('console', m => m.type() === 'error' && console.log('CONSOLE', m.text()));
  await page.route('**/*.js', r => r.fulfill({ body: readFileSync(D + 'served.js'), contentType: 'text/javascript; charset=utf-8' }));
  await page.route('**/*.css', r => r.fulfill({ body: readFileSync(D + 'served.css'), contentType: 'text/css; charset=utf-8' }));
  await page.goto(url + frag);
  await page.evaluate(() => window.weftReady.then(() => true));
  return { page, context };
}
export { quiet, settle };
