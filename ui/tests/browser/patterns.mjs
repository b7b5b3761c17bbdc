// SPDX-License-Identifier: MIT
// More of the Patterns screen: durations of a behaviour, pinned cards, searches of before, idle time.
import { fragmentOf, settle } from './page.mjs';

const shown = page =>
  page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    await stage.idle();
    const { screen, window: now, item, query, pins, past } = app.state.get();
    const { cluster, chosen } = app.own.get('patterns').get();
    return { screen, window: now, cluster, chosen, item, query, pins: pins.length, past };
  });

async function toPatterns(page) {
  await page.locator('#chart').focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await page.keyboard.press('3');
  await page.locator('#c0 .row-link').waitFor();
}

export async function durations(page, ok) {
  await toPatterns(page);
  await page.locator('#c1 .row-link').click();
  const picture = page.locator('.spread');
  await picture.waitFor();
  const label = await picture.getAttribute('aria-label');
  ok(/^Durations of [\d\u202f ,]+ occurrences from .+ to .+, most of them/.test(label), label);
  const inks = await page.evaluate(async () => {
    await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const canvas = document.querySelector('.spread canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(Array.from(new Uint32Array(data.buffer))).size;
  });
  ok(inks > 4, 'the histogram is painted', `${inks} colours`);
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  let words = '';
  for (let x = 60; x < box.width && !/%/.test(words); x += 6) {
    await page.mouse.move(box.x + x, box.y + box.height - 24);
    words = await page.locator('.spread + .remark').textContent();
  }
  ok(/ to .+: .+ occurrences? \(/.test(words), 'a bar says what it holds', words);
  const facts = await page.locator('.facts.behaviour').textContent();
  ok(/mean.+\u00b1.+std dev/.test(facts), 'mean and deviation');
  ok(/function\u2019s mean/.test(facts), 'beside those of the function');
  ok(/\/s/.test(await page.locator('.threads-of').textContent()), 'threads have rates');
  await page.locator('.threads-of .link').first().click();
  ok((await shown(page)).chosen !== null, 'a thread leads to its first run');
}

export async function pinning(page, ok) {
  await toPatterns(page);
  await page.locator('#c2 .row-link').click();
  await page.locator('.facts .tools button').nth(1).click();
  await page.locator('#chart').focus();
  await page.keyboard.press('z');
  const there = await shown(page);
  await page.keyboard.press('p');
  const cards = page.locator('.pins .pin-card');
  ok((await cards.count()) === 1, 'p pins the card');
  ok(/cards=3~/.test(decodeURIComponent(await fragmentOf(page))), 'the address has it');
  await page.keyboard.press('Home');
  await page.keyboard.press('1');
  await settle(page);
  await page.locator('#chart').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('p');
  ok((await cards.count()) === 2, 'on the Overview, too');
  const names = await page
    .locator('.pins button')
    .evaluateAll(list => list.map(one => one.getAttribute('aria-label')));
  ok(
    names.every(name => /^(Go to|Close the card of)/.test(name)),
    'every button is named',
  );
  await page.keyboard.press('Shift+P');
  const isFocused = await page.evaluate(() => document.activeElement.closest('.pin-card') !== null);
  ok(isFocused, 'Shift+P goes to the cards');
  await page.keyboard.press('Enter');
  await settle(page);
  const back = await shown(page);
  const isThere =
    back.screen === 'patterns' &&
    back.cluster === there.cluster &&
    JSON.stringify([back.window, back.chosen.at]) ===
      JSON.stringify([there.window, there.chosen.at]);
  ok(isThere, 'Enter goes back to its place', JSON.stringify(back));
  ok(await page.evaluate(() => document.activeElement.id === 'chart'), 'the chart has the focus');
  await page.reload();
  await page.evaluate(() => window.weftReady.then(() => true));
  ok((await cards.count()) === 2, 'a link keeps the cards');
  await page.locator('#chart').focus();
  await page.keyboard.press('Shift+P');
  await page.keyboard.press('Escape');
  await settle(page);
  ok((await cards.count()) === 1, 'Escape closes a card');
  ok(
    await page.evaluate(() => document.activeElement.closest('.pin-card') !== null),
    'and the next has the focus',
  );
  await page.keyboard.press('Escape');
  ok(
    (await cards.count()) === 0 && !/cards=/.test(decodeURIComponent(await fragmentOf(page))),
    'the last one goes, too',
  );
}

export async function recalling(page, ok) {
  await toPatterns(page);
  const box = page.locator('#search');
  for (const query of ['count:2', 'min:1ms']) {
    await box.fill(query);
    await page.keyboard.press('Enter');
  }
  await box.fill('');
  await page.keyboard.press('ArrowUp');
  ok((await shown(page)).query === 'min:1ms', 'arrow up: the search before');
  await page.keyboard.press('ArrowUp');
  ok((await shown(page)).query === 'count:2', 'and the one before that');
  ok(/\d+ behaviours? in/.test(await page.locator('.hits').textContent()), 'is done again');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  ok((await shown(page)).query === '', 'arrow down: back to none');
  const listed = await page.locator('.suggest li').allTextContents();
  ok(/^min:1ms,count:2/.test(listed.join()), 'an empty box lists them', listed.join());
  ok(/past=min:1ms/.test(decodeURIComponent(await fragmentOf(page))), 'the address keeps them');
  await page.locator('#chart').focus();
  await page.keyboard.press('?');
  const help = await page.locator('.drawer.help').textContent();
  ok(/searches of before/.test(help) && /Pin the card/.test(help), 'the help says so');
  await page.keyboard.press('Escape');
}

export async function folding(page, ok) {
  await toPatterns(page);
  const before = await page.locator('.legend').textContent();
  ok(/1 stretch without any occurrence/.test(before), 'the legend tells of idle time');
  const place = () =>
    page.evaluate(async () => {
      const { app, stage } = await window.weftReady;
      await stage.idle();
      const d = app.model.trace.duration;
      const view = stage.view();
      const at = [0.1, 0.35, 0.55, 0.9].map(share => view.x(share * d) / view.width);
      return { at, back: at.map(x => view.t(x * view.width) / d) };
    });
  const linear = await place();
  await page.locator('#chart').focus();
  await page.keyboard.press('i');
  const now = await place();
  const width = ({ at }) => at[2] - at[1];
  ok(width(now) < width(linear) / 10, 'i folds it', `${width(linear)} to ${width(now)}`);
  ok(
    now.back.every((share, i) => Math.abs(share - linear.back[i]) < 1e-6),
    'the axis stays true',
  );
  ok(/idle=fold/.test(decodeURIComponent(await fragmentOf(page))), 'the address says so');
  ok(/^Folded: 1 stretch/.test(await page.locator('#said').textContent()), 'it is announced');
  const zoomed = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    return app.state.get().window;
  });
  await page.keyboard.press('w');
  await page.keyboard.press('s');
  const after = (await shown(page)).window;
  ok(
    Math.abs(after.t0 - zoomed.t0) + Math.abs(after.t1 - zoomed.t1) < 10,
    'zoom in and out comes back',
    JSON.stringify(after),
  );
  await page.locator('.legend button:has-text("Fold idle")').click();
  ok(width(await place()) > width(linear) / 2, 'and unfolds it');
}
