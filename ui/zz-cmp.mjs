import { testCompare } from './tests/browser/compare.mjs';
import { makeTap, openBrowser } from './tests/browser/page.mjs';
const { ok, end, threw } = makeTap(400);
const browser = await openBrowser();
try { await testCompare(ok, browser); } catch (e) { threw(e); }
await browser.close(); end();
