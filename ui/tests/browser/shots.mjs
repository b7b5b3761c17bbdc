// SPDX-License-Identifier: MIT
// Pictures of every screen of the served page, light and dark: docs/img/screen-NAME-THEME.png.
// usage: node shots.mjs WEFT TRACE.weft FOLDER [NAME...]
// Without names: all but those that need waits and executions (findings, interplay, path, compare).
//
// 1600 x 1000 at one pixel a pixel, without the time of day in them: the same program and trace give
// the same pictures. With pngquant on the path they are a third as large.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openBrowser, PATIENCE_MS } from './page.mjs';
import { openServed, quiet, serve } from './serve.mjs';

async function show(page, digit) {
  await page.locator('body').press(digit);
  await quiet(page, PATIENCE_MS);
}

/** What a trace opens with. */
async function findings(page) {
  await show(page, '0');
  await page.locator('.fnd-lane').first().waitFor();
}

/** A range is selected, and the table says what each thread did then. */
async function overview(page) {
  await show(page, '1');
  const box = await page.locator('.area').boundingBox();
  const y = box.y + 60;
  await page.mouse.move(box.x + box.width * 0.42, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.46, y, { steps: 4 });
  await page.mouse.up();
}

/** The longest of the calls of the story's third outlier, and what is around it. */
async function timeline(page) {
  await show(page, '1');
  await page.locator('.story table.fixed .row-link').nth(2).click();
  await quiet(page, PATIENCE_MS);
  await show(page, '2');
  await page.locator('#chart').press('f');
}

async function patterns(page) {
  await show(page, '3');
  await page.locator('#c0 .row-link').click();
}

async function functions(page) {
  await show(page, '7');
  await page.locator('table.functions tbody tr:not(.gap) th').nth(1).click();
}

async function health(page) {
  await show(page, '9');
}

/** A wait in the middle is selected; its curve stands out. */
async function interplay(page) {
  await show(page, '4');
  await page.locator('table.interplay-threads td .link').nth(3).click();
  await quiet(page, PATIENCE_MS);
  await page.locator('.interplay-panel [role=tab]').first().click();
}

/** The three longest calls of the function that the tutorial asks about. */
async function path(page) {
  await show(page, '5');
  await page.getByLabel(/^Longest/).selectOption('3');
  await page.locator('.path-form input').last().fill('load_page');
  await page.locator('.path-form button[type=submit]').last().click();
}

/** The executions that are proposed first: the slow ones against the fast ones. */
async function compare(page) {
  await show(page, '6');
  await page.locator('.cmp-subjects .row-link').first().click();
}

const SCREENS = { overview, timeline, patterns, functions, health };
const WITH_WAITS = { findings, interplay, path, compare };

function shrink(path) {
  const args = ['--force', '--skip-if-larger', '--speed', '1', '--output', path, '256', path];
  const { error } = spawnSync('pngquant', args, { stdio: 'inherit' });
  if (error) console.error(`${path}: not made smaller, there is no pngquant`);
}

async function shoot(browser, url, name, colorScheme, folder) {
  const { page, context, trouble } = await openServed(browser, url, {
    colorScheme,
    reducedMotion: 'reduce',
  });
  await { ...SCREENS, ...WITH_WAITS }[name](page);
  await page.mouse.move(800, 12); // over nothing
  await quiet(page, PATIENCE_MS);
  const path = join(folder, `screen-${name}-${colorScheme}.png`);
  await page.screenshot({ path });
  shrink(path);
  console.log(path, ...trouble);
  await context.close();
  return trouble.length === 0;
}

const [weft, trace, folder, ...names] = process.argv.slice(2);
if (!weft || !trace || !folder) {
  console.error('usage: node shots.mjs WEFT TRACE.weft FOLDER [NAME...]');
  process.exit(2);
}
const server = await serve(weft, [trace]);
const browser = await openBrowser();
try {
  for (const name of names.length > 0 ? names : Object.keys(SCREENS))
    for (const scheme of ['light', 'dark'])
      if (!(await shoot(browser, server.url, name, scheme, folder))) process.exitCode = 1;
} finally {
  await browser.close();
  await server.stop();
}
