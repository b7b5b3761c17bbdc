import { start, open, quiet } from './zz-drive.mjs';
const [trace, scheme = 'dark', out = '/tmp/screens_w/a'] = process.argv.slice(2);
const { server, browser } = await start([trace]);
try {
  const { page } = await open(browser, server.url, '', { colorScheme: scheme });
  await quiet(page);
  await page.locator('body').press('6');
  await quiet(page);
  await page.screenshot({ path: `${out}-cmp0.png` });
  await page.locator('.cmp-subjects .row-link').first().click();
  await quiet(page);
  await page.screenshot({ path: `${out}-cmp.png` });
  await page.locator('.cmp-executions tbody tr:not(.gap) button').first().click({timeout:3000}).catch(e => console.log(String(e).slice(0, 200)));
  await quiet(page);
  console.log(await page.evaluate(() => location.hash));
  await page.screenshot({ path: `${out}-tl.png` });
  await page.locator('body').press('5');
  await quiet(page);
  await page.screenshot({ path: `${out}-path.png` });
} finally { await browser.close(); await server.stop(); }
