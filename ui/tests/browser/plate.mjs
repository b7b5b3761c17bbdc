// SPDX-License-Identifier: MIT
// What tests of the Interplay share: where its threads, calls and curves are drawn, and what the page
// says of them.
import { settle } from './page.mjs';

export const rowOf = (page, name) =>
  page.locator('table.interplay-threads tbody tr', { hasText: name });

export const tab = (page, name) =>
  page.locator('.interplay-panel > .panel-tabs [role=tab]', { hasText: name }).click();

/** The threads in the picture, the main view first. */
export const badges = page =>
  page.locator('.badge-thread').evaluateAll(all => all.map(one => Number(one.dataset.thread)));

/** The middle of a call of a thread in the picture, in px of the page. */
export const spotOf = (page, thread, t, level) =>
  page.evaluate(
    async ([id, at, depth]) => {
      const { stage } = await window.weftReady;
      const box = document.querySelector('.plate').getBoundingClientRect();
      const frame = stage.frames().find(one => one.thread === id);
      const { x, y } = frame.place(at, depth + 0.5);
      return { x: box.left + x, y: box.top + y };
    },
    [thread, t, level],
  );

/** The tool-tip at a place; '' if there is none. No-break spaces are spaces. */
export async function tipAtPlace(page, { x, y }) {
  await page.mouse.move(x, y);
  await settle(page);
  const tip = page.locator('.plate-tip');
  return (await tip.count()) > 0 ? (await tip.textContent()).replace(/\u00a0/g, ' ') : '';
}

export const tipAt = async (page, thread, t, level) =>
  tipAtPlace(page, await spotOf(page, thread, t, level));

export async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

export const viewsOf = page =>
  page.evaluate(async () =>
    (await window.weftReady).stage.frames().map(({ thread, view }) => [thread, view.t1 - view.t0]),
  );

/** What the stage says is at a place is what was drawn there, on straight threads and on bent ones;
 * of at least `least` calls. */
export async function hits(ok, page, least) {
  const wrong = await page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const out = [];
    let looked = 0;
    for (const frame of stage.frames()) {
      const { calls } = stage.screen.loader.of(frame.thread);
      for (let level = 0; level + 1 < calls.depthFrom.length && level < frame.shown; level++)
        for (let i = calls.depthFrom[level]; i < calls.depthFrom[level + 1]; i++) {
          const [start, end] = [calls.start[i], calls.end[i]];
          if (end <= frame.view.t0 || start >= frame.view.t1) continue;
          const { x, y } = frame.place((start + end) / 2, level + 0.5);
          const a = frame.place(start, level + 0.5);
          const b = frame.place(end, level + 0.5);
          if (Math.hypot(a.x - b.x, a.y - b.y) < 2) continue;
          looked++;
          const hit = stage.hit(x, y);
          const isIt =
            hit?.thread === frame.thread &&
            hit.depth === level &&
            hit.start === start &&
            hit.end === end;
          if (!isIt) out.push(`${frame.thread} ${level} ${start}: ${JSON.stringify(hit)}`);
        }
    }
    return { out, looked };
  });
  ok(
    wrong.out.length === 0 && wrong.looked >= least,
    'the call under the pointer is the one drawn there',
    `${wrong.looked} looked at; ${wrong.out.slice(0, 3).join('; ')}`,
  );
}
