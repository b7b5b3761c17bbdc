// SPDX-License-Identifier: MIT
// The critical path on the Timeline, before a made-up server (fakecompare.mjs): its path is on the
// thread asked for, then on the next one, then on the first again, where it waits for a disk.
import { fragmentOf, settle } from './page.mjs';
import { openServed } from './serve.mjs';

/** Pixels of the strip of a thread, at the middle of a time. */
const colourAt = (page, thread, t) =>
  page.evaluate(
    async ([thread, t]) => {
      const { stage } = await window.weftReady;
      const own = stage.placed().find(({ track }) => track.thread === thread);
      const canvas = document.querySelector('.tchart .area canvas');
      const x = Math.round(stage.view().x(t));
      const { data } = canvas.getContext('2d').getImageData(x - 3, own.top + 4, 7, 6);
      const seen = new Map();
      for (let i = 0; i < data.length; i += 4) {
        const key = [data[i], data[i + 1], data[i + 2]].join();
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
      return [...seen].sort((a, b) => b[1] - a[1])[0][0];
    },
    [thread, t],
  );

/** Is there an upright line of one colour from one strip to the other at a time? */
const lineAt = (page, from, to, t) =>
  page.evaluate(
    async ([from, to, t]) => {
      const { stage } = await window.weftReady;
      const top = thread => stage.placed().find(({ track }) => track.thread === thread).top;
      const canvas = document.querySelector('.tchart .area canvas');
      const [a, b] = [top(from), top(to)].sort((x, y) => x - y);
      const x = Math.round(stage.view().x(t));
      const { data } = canvas.getContext('2d').getImageData(x, a + 15, 1, b - a - 15);
      const first = data.slice(0, 3).join();
      for (let i = 0; i < data.length; i += 4)
        if (data.slice(i, i + 3).join() !== first) return false;
      return true;
    },
    [from, to, t],
  );

const causes = page => page.locator('.tpath-causes li').allTextContents();

/** `page` shows the Timeline with the path of an execution. */
export async function testTimelinePath(ok, page, browser, server) {
  const pick = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { cp } = app.screens
      .find(({ key }) => key === 'path')
      .write(app)
      .reduce((all, [key, value]) => ({ ...all, [key]: value }), {});
    return cp;
  });
  ok(
    /^t\d+\.[\d.]+-[\d.]+~insert/.test(pick),
    'the path on the Timeline is that of the execution',
    pick,
  );
  const said = await causes(page);
  ok(
    said.some(text => text.includes('waits for a disk')) &&
      said.some(text => text.includes('unexplained')),
    'its causes are told in the order of their time, with what is unexplained',
    said.join('; '),
  );
  await strips(ok, page);
  await steps(ok, page);
  await toggled(ok, page, browser, server);
  await away(ok, page);
}

async function strips(ok, page) {
  const { lanes, path } = await page.evaluate(async () => {
    const { stage, app } = await window.weftReady;
    const [span] = app.state.get().range ? [app.state.get().range] : [app.state.get().window];
    const lanes = stage.placed().filter(({ track }) => track.path > 0);
    return { path: span, lanes: lanes.map(({ track }) => track.thread) };
  });
  ok(lanes.length === 2, 'both of its threads have a strip', lanes.join());
  const [own, other] = lanes;
  const at = share => path.t0 + (path.t1 - path.t0) * share;
  const [ran, disk, elsewhere] = [
    await colourAt(page, own, at(0.3)),
    await colourAt(page, own, at(0.88)),
    await colourAt(page, other, at(0.88)),
  ];
  ok(
    ran !== disk && disk !== elsewhere,
    'in the colours of its causes',
    `${ran} ${disk} ${elsewhere}`,
  );
  ok(await lineAt(page, own, other, at(1 / 3)), 'an arrow leads to where it goes on');
  const box = await page.locator('.tchart .area').boundingBox();
  const place = await page.evaluate(
    async ([thread, t]) => {
      const { stage } = await window.weftReady;
      const { top } = stage.placed().find(({ track }) => track.thread === thread);
      return { x: stage.view().x(t), y: top + 7 };
    },
    [own, at(0.8)],
  );
  await page.mouse.move(box.x + place.x, box.y + place.y);
  await page.locator('.tip').waitFor();
  const tip = await page.textContent('.tip');
  ok(
    /waits for a disk/.test(tip) && /critical path/.test(tip),
    'the pointer tells of a segment',
    tip,
  );
  await page.mouse.click(box.x + place.x, box.y + place.y);
  ok((await fragmentOf(page)).includes('cpseg=2'), 'a click selects it, and the address says so');
}

async function steps(ok, page) {
  const said = () => page.locator('#said').textContent();
  await page.locator('#chart').focus();
  await page.keyboard.press('[');
  const back = await said();
  ok(
    /runnable \(preempted\)/.test(back) && (await fragmentOf(page)).includes('cpseg=1'),
    '[ goes to where it came from another thread, and says what it was',
    back,
  );
  await page.keyboard.press(']');
  ok((await fragmentOf(page)).includes('cpseg=2'), '] goes on');
  await page.keyboard.press('Escape');
  ok(!(await fragmentOf(page)).includes('cpseg='), 'Esc gives the segment up, not the path');
}

async function toggled(ok, page, browser, server) {
  const strips = () =>
    page.evaluate(async () => {
      const { stage } = await window.weftReady;
      return stage.placed().filter(({ track }) => track.path > 0).length;
    });
  const before = await strips();
  await page.locator('#chart').focus();
  await page.keyboard.press('c');
  ok(
    before > 0 && (await strips()) === 0 && (await fragmentOf(page)).includes('onpath=0'),
    'c switches it off, and the address says so',
  );
  ok(
    (await page.textContent('.tpath')).includes('not drawn'),
    'the line says that it is not drawn',
  );
  const link = await fragmentOf(page);
  const off = await openServed(browser, server.address + link);
  await settle(off.page);
  ok((await off.page.textContent('.tpath')).includes('not drawn'), 'a link keeps it off');
  await off.context.close();
  await page.keyboard.press('c');
  ok((await strips()) === before, 'c draws it again');
  const on = await openServed(browser, server.address + (await fragmentOf(page)));
  await settle(on.page);
  ok(
    String(await causes(on.page)) === String(await causes(page)),
    'a link draws it',
    (await causes(on.page)).join('; '),
  );
  await on.context.close();
}

/** Elsewhere, refused, taken away. */
async function away(ok, page) {
  await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { window: now } = app.state.get();
    const width = now.t1 - now.t0;
    const t0 = now.t1 + width;
    app.state.update(state => ({ ...state, window: { t0, t1: t0 + width } }));
  });
  await settle(page);
  ok(
    /before the window/.test(await page.textContent('.tpath')),
    'out of view, it says where it is',
  );
  await page.locator('.tpath-note .link').first().click();
  await settle(page);
  ok(!/before the window/.test(await page.textContent('.tpath')), 'and comes back at a click');
  await page.route('**/api/path?*', route =>
    route.fulfill({
      status: 400,
      body: '{"error":"the path is lost"}',
      contentType: 'application/json',
    }),
  );
  await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { path } = app.screens.reduce((all, one) => ({ ...all, [one.key]: one }), {});
    const [[, cp]] = path.write(app);
    path.read(app, key => (key === 'cp' ? cp.replace(/-[\d.]+~.*$/, '-0.09') : ''));
  });
  await settle(page);
  ok(/ask again/.test(await page.textContent('.tpath')), 'a path that is refused says why');
  await page.unroute('**/api/path?*');
  await page.getByText('ask again').click();
  await settle(page);
  ok((await causes(page)).length > 1, 'and is there when asked again');
  await page.getByLabel('Take the path away').click();
  await settle(page);
  ok((await page.locator('.tpath').count()) === 0, 'taken away, nothing is left of it');
  await page.locator('#chart').focus();
  await page.keyboard.press('c');
  const none = await page.locator('#said').textContent();
  ok(/no critical path is chosen/.test(none), 'without a path, c says how to get one', none);
}
