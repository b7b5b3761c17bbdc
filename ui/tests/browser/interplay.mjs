// SPDX-License-Identifier: MIT
// Screen 4 Interplay: the findings that SyncTrace (section V) made in a browser, by its steps, on a
// made-up one; that hovering tells what is drawn under the pointer; ladder, table, keys, links; and a
// real recording, if WEFT_BIN and WEFT_RECORDED say which.
import { troubleOf } from './access.mjs';
import { DURATION, serveBrowser } from './fakeinterplay.mjs';
import { fragmentOf, newContext, PATIENCE_MS, settle } from './page.mjs';
import { badges, hits, rowOf, spotOf, tab, tipAt, viewsOf } from './plate.mjs';
import { startBinary } from './timelineserver.mjs';

async function open(browser, address, fragment = '#v=1&s=4', options = {}) {
  const context = await newContext(browser, options);
  const page = await context.newPage();
  const trouble = [];
  page.on('console', message => {
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) trouble.push(message.text());
  });
  page.on('pageerror', error => trouble.push(error.message));
  page.on('response', response => {
    const isOthers = /api\/(regtime|shapes)\?/.test(response.url());
    if (response.status() >= 400 && !isOthers) trouble.push(response.url());
  });
  await page.goto(address + fragment);
  await page.evaluate(() => window.weftReady.then(() => true));
  await settle(page);
  return { page, context, trouble };
}

/** Asks the page until it says so. */
async function until(page, what, ...args) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await page.evaluate(what, ...args);
    if (found || Date.now() > end) return found;
    await settle(page);
  }
}

/** Section V, first part: who waits for whom, who never waits, and for whom all wait. */
async function overview(ok, page) {
  const first = await page.textContent('.interplay-head h1');
  ok(
    first.includes('worker-3') && first.includes('for T100 main'),
    'the first sentence: who waits longest for whom',
    first,
  );
  ok((await badges(page))[0] === 0, 'the thread for which the others wait is the main view');
  ok(
    (await rowOf(page, 'hasher').textContent()).includes('never waits'),
    'a thread that never waits says so',
  );
  const curves = await page.evaluate(async () => (await window.weftReady).stage.curves());
  const wide = curves.filter(({ start, end }) => end - start > 0.3 * 2e9);
  ok(
    wide.length > 0 && wide.every(({ to }) => to === 0),
    'one wide curve for each long wait, and all go to the main thread',
    JSON.stringify(wide.map(({ thread, to }) => [thread, to])),
  );
  ok(
    curves.some(({ thread, to }) => thread === 0 && to === 9),
    'and the main thread waits for the one that it created',
  );
  await tab(page, 'Blocked by');
  const row = page.locator('table.matrix tbody tr', { hasText: 'worker-1' });
  ok(
    (await row.locator('td button').count()) === 1,
    'the matrix: a worker waits for one thread alone',
  );
  await row.locator('td button').click();
  ok(
    (await page.textContent('.facts')).includes('ended by T100 main'),
    'a cell leads to its longest wait',
  );
  await page.keyboard.press('Escape');
  await tab(page, 'Threads');
}

/** The farmer and its workers; the imbalance among them. */
async function workers(ok, page) {
  const texts = await page.locator('table.interplay-threads tbody tr').allTextContents();
  const share = name =>
    Number(
      /([\d.]+) ?%/.exec(texts.find(text => text.includes(name)).replace(/\u00a0/g, ' '))?.[1],
    );
  ok(
    share('worker-1') < 60 && share('worker-4') > 95,
    'workers of one farmer differ: one works, one idles',
    texts.join('|').slice(0, 200),
  );
  await rowOf(page, 'worker-4').locator('.row-link').click();
  await settle(page);
  ok((await badges(page))[0] === 4, 'a click in the selection makes a thread the main view');
  ok((await badges(page)).includes(0), 'and the one that was there moves to the context');
  const tip = await tipAt(page, 4, 1000e6, 0);
  ok(
    tip.includes('nsThread::ThreadFunc') && /waiting.*9\d/.test(tip),
    'its function, and how much of it waits',
    tip,
  );
  const from = await page.locator('.badge-thread[data-thread="0"]').boundingBox();
  const to = await page.locator('.badge-thread[data-thread="4"]').boundingBox();
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 8, to.y + 8, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  ok((await badges(page))[0] === 0, 'threads are swapped by dragging one onto the other');
}

/** The hang monitor that nothing but its end wakes. */
async function hangMonitor(ok, page) {
  const row = await rowOf(page, 'hang monitor').textContent();
  ok(row.includes('not known'), 'the hang monitor waits for nobody that is known', row);
  const tip = await tipAt(page, 5, 1500e6, 1);
  ok(
    tip.includes('semaphore') && tip.includes('it had not ended when the trace did'),
    'the tool-tip: it waits for a semaphore, not a timer, and never went on',
    tip,
  );
  ok((await tipAt(page, 7, 1150e6, 1)).includes('timer'), 'another one waits for a timer');
  const patterns = await page.textContent('.interplay-patterns');
  ok(patterns.includes('without a timeout'), 'and the page says so', patterns);
  await tab(page, 'Locks and other objects');
  ok(
    (await page.textContent('table.objects')).includes('never released'),
    'its object is marked as never released',
  );
  await tab(page, 'Threads');
}

/** The compressor, whose work is shorter than its notification. */
async function compressor(ok, page) {
  await rowOf(page, 'JS compressor').locator('.row-link').click();
  await page.evaluate(async () => {
    const { stage } = await window.weftReady;
    stage.screen.setView(6, { t0: 127.9e6, t1: 128.1e6 });
  });
  await settle(page);
  const work = await tipAt(page, 6, 128.005e6, 1);
  const tell = await tipAt(page, 6, 128.04e6, 1);
  ok(work.includes('compress') && /8(\.00)?\s*µs/.test(work), 'its work takes 8 µs', work);
  ok(
    tell.includes('Monitor::Notify') && /50(\.0)?\s*µs/.test(tell),
    'telling of it takes 50 µs',
    tell,
  );
  ok(/waiting\s*0/.test(work.replace(/\u00a0/g, ' ')), 'it blocks nowhere in its work: neutral');
}

/** The main thread: releases at many depths, hardly any waiting; its one outlier of input/output. */
async function mainThread(ok, page) {
  await rowOf(page, 'T100 main').locator('.row-link').click();
  await page.keyboard.press('Home');
  await settle(page);
  ok(
    (await rowOf(page, 'T100 main').textContent()).includes('depths 5 to 7'),
    'its releases are at several depths: independent tasks, no loop',
  );
  const life = await tipAt(page, 0, 1000e6, 0);
  ok(
    /lifetime of T100\s*0\.19/.test(life.replace(/\u00a0/g, ' ')),
    'it waits 0.2 % of its life',
    life,
  );
  const before = await page.evaluate(async () =>
    (await window.weftReady).stage.frames()[0].levels.at(1),
  );
  const { x, y } = await spotOf(page, 0, 300e6, 2);
  await page.mouse.move(x, y);
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, 100);
  await settle(page);
  const folded = await page.evaluate(async () => {
    const { levels } = (await window.weftReady).stage.frames()[0];
    return [levels.fold, levels.at(1)];
  });
  ok(
    folded[0] === 3 && folded[1] < before,
    'the wheel folds upper levels, one by one',
    String(folded),
  );
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -100);
  await settle(page);
  const outlier = await tipAt(page, 0, 1309e6, 5);
  ok(
    outlier.includes('AddURIVisit') && /input, output.*9\d/.test(outlier),
    'an intensely coloured call: most of it is input and output',
    outlier,
  );
  ok(
    /mean of all 59/.test(outlier) && /×\d\d/.test(outlier),
    'and far longer than its function usually is',
    outlier,
  );
  const below = await tipAt(page, 0, 1309e6, 6);
  ok(below.includes('sqlite3_step'), 'below it the database layer', below);
  const created = await tipAt(page, 0, 906e6, 5);
  ok(
    created.includes('NewThread') && created.includes('Monitor::Wait'),
    'creating a thread waited',
    created,
  );
  const wait = await tipAt(page, 0, 906e6, 6);
  ok(wait.includes('ended by T109 created'), 'for the new thread to leave a monitor', wait);
}

/** The poller, whose period changes. */
async function poller(ok, page) {
  await rowOf(page, 'poller').locator('.row-link').click();
  await settle(page);
  const lengths = await page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const waits = stage.screen.waitsOf(7);
    return [waits.sum[0], waits.sum[waits.n - 1]];
  });
  ok(lengths[0] > 9 * lengths[1], 'it polls ten times as often as before', String(lengths));
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  ok((await page.textContent('#said')).includes('T107'), 'keys go from wait to wait, and say it');
  await page.keyboard.press('Escape');
}

/** Every thread has objects of its own: all curves are grey. */
async function objects(ok, page) {
  await page.keyboard.press('o');
  await settle(page);
  const state = await page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const style = getComputedStyle(document.documentElement);
    const colors = stage
      .curves()
      .map(curve => stage.colorOf(curve, stage.screen.loader.of(curve.thread)));
    return { colors: [...new Set(colors)], grey: style.getPropertyValue('--grey').trim() };
  });
  ok(
    state.colors.length === 1 && state.colors[0] === state.grey,
    'by object all curves are grey: no object is shared',
    JSON.stringify(state),
  );
  await page.keyboard.press('o');
}

/** Each thread has its own time; a context thread can have more room; grips. */
async function views(ok, page) {
  await tab(page, 'Threads');
  await rowOf(page, 'T100 main').locator('.row-link').click();
  await settle(page);
  const { x, y } = await spotOf(page, 1, 1000e6, 0);
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await settle(page);
  const zoomed = new Map(await viewsOf(page));
  ok(
    zoomed.get(1) < DURATION && zoomed.get(0) === DURATION && zoomed.get(2) === DURATION,
    'a context thread zooms alone',
  );
  await page.keyboard.press('u');
  ok(new Map(await viewsOf(page)).get(1) === DURATION, 'and goes back to the time of all');
  const sizes = () =>
    page.evaluate(async () =>
      (await window.weftReady).stage
        .frames()
        .slice(1)
        .map(({ ring, thread }) => [thread, ring.to - ring.from]),
    );
  const small = new Map(await sizes()).get(1);
  await page.locator('.badge-thread[data-thread="1"]').focus();
  await page.keyboard.press('f');
  await settle(page);
  ok(new Map(await sizes()).get(1) > 2.5 * small, 'a focused context thread has a bigger section');
  ok((await page.locator('.plate-overview').count()) === 2, 'and an overview of its own');
  await page.locator('.badge-thread[data-thread="1"]').focus();
  await page.keyboard.press('f');
  const split = await page.evaluate(async () => (await window.weftReady).stage.plate().split);
  const box = await page.locator('.plate').boundingBox();
  await page.mouse.move(box.x + 300, box.y + split - 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + split + 40, { steps: 3 });
  await page.mouse.up();
  await settle(page);
  const moved = await page.evaluate(async () => (await window.weftReady).stage.plate());
  ok(
    Math.abs(moved.split - split - 42) < 4,
    'the line between focus and context moves',
    `${split} ${moved.split}`,
  );
  await page.keyboard.press('+');
  const inner = await page.evaluate(async () => (await window.weftReady).stage.plate().inner);
  await page.keyboard.press('-');
  const less = await page.evaluate(async () => (await window.weftReady).stage.plate().inner);
  ok(less < inner, 'the inner radius is adjustable');
  const overview = await page.locator('.plate-overview').first().boundingBox();
  await page.mouse.move(overview.x + overview.width * 0.25, overview.y + 20);
  await page.mouse.down();
  await page.mouse.move(overview.x + overview.width * 0.5, overview.y + 20, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const brushed = new Map(await viewsOf(page)).get(0);
  ok(Math.abs(brushed / DURATION - 0.25) < 0.02, 'the overview has a brush', String(brushed));
  await page.keyboard.press('Home');
  await page.locator('.badge-thread[data-thread="3"]').dblclick();
  await settle(page);
  ok(!(await badges(page)).includes(3), 'a double click on a label hides the thread');
}

/** The same data in a row, and as a table; the address keeps it. */
async function forms(ok, browser, address, page) {
  await page.keyboard.press('v');
  await settle(page);
  const frames = await page.evaluate(async () =>
    (await window.weftReady).stage.frames().map(({ isRing }) => isRing),
  );
  ok(frames.length > 4 && frames.every(isRing => !isRing), 'one key makes it a ladder');
  await hits(ok, page, 300);
  await page.keyboard.press('v');
  await settle(page);
  const rows = await page.locator('table.waits tbody tr:not(.gap)').count();
  ok(rows > 20, 'and a table', String(rows));
  ok(
    (await page.textContent('table.waits')).includes('Monitor::Wait in nsThread::ThreadFunc'),
    'that says where each wait is',
  );
  const link = await fragmentOf(page);
  const other = await open(browser, address, link);
  ok(
    (await other.page.textContent('table.waits tbody')) ===
      (await page.textContent('table.waits tbody')),
    'a link shows the same',
  );
  await other.context.close();
  await page.keyboard.press('v');
  await settle(page);
}

async function accessible(ok, page, name) {
  const wrong = await troubleOf(page);
  ok(
    wrong.length === 0,
    `Interplay, ${name}: nothing that has no name, no text too pale`,
    wrong.slice(0, 4).join('; '),
  );
}

/** The lanes of locks of the Timeline. */
async function lanes(ok, page) {
  await page.keyboard.press('2');
  await settle(page);
  const tall = () => page.evaluate(async () => (await window.weftReady).stage.rows().height);
  const withLanes = await until(page, async () => {
    const { stage } = await window.weftReady;
    return stage.rows().rows.some(({ lanes }) => lanes > 0);
  });
  ok(withLanes, 'Timeline: threads that wait for locks have lanes of them');
  const high = await tall();
  const at = await page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const box = document.querySelector('#chart .area').getBoundingClientRect();
    const { track, top } = stage.placed().find(one => one.track.lanes > 0);
    const [lane] = stage.laneLoader().of(track.thread);
    const x = stage.view().x((lane.start[0] + lane.end[0]) / 2);
    return { x: box.left + x, y: box.top + stage.laneTop(track, top) + 4 };
  });
  await page.mouse.move(at.x, at.y);
  await settle(page);
  ok((await page.textContent('.tip')).includes('waits'), 'the pointer on one says what it is');
  await page.mouse.down();
  await page.mouse.up();
  await settle(page);
  ok((await page.locator('.lock-card').count()) === 1, 'a click opens who made whom wait for it');
  await page.keyboard.press('2');
  await settle(page);
  await page.locator('#chart').press('l');
  await settle(page);
  ok((await tall()) < high, 'l hides the lanes');
  await page.locator('#chart').press('l');
}

/** A recording of a real program: the same screens, without any failure. */
async function real(ok, browser, binary, trace) {
  const server = await startBinary(binary, trace);
  const { page, context, trouble } = await open(browser, server.address);
  await until(page, async () => (await window.weftReady).stage.frames().length > 1);
  await settle(page);
  const head = await page.textContent('.interplay-head');
  ok(/Threads waited .* waits/.test(head), 'a recording: the first sentence', head.slice(0, 200));
  const waits = await until(page, async () => {
    const { stage } = await window.weftReady;
    const rows = stage.screen.loader.rows;
    return rows ? rows.rows : 0;
  });
  ok(waits > 0, 'a recording: its waits are there', String(waits));
  await hits(ok, page, 300);
  for (const name of ['Blocked by', 'Locks', 'From where', 'Selected']) await tab(page, name);
  for (const key of ['.', 'v', 'v', 'v', 'o', 'o']) await page.keyboard.press(key);
  await page.keyboard.press('2');
  await settle(page);
  ok(trouble.length === 0, 'a recording: no error', trouble.join('; '));
  await context.close();
  server.close();
}

/** Threads of other processes are left out until somebody asks for them; the address says so. */
async function processes(ok, browser) {
  const server = await serveBrowser(0, ['poller', 'hasher']);
  const { page, context, trouble } = await open(browser, server.address);
  const said = () => page.locator('.left-out').textContent();
  const polls = () => rowOf(page, 'poller').count();
  ok((await said()).startsWith('2 threads of other processes are omitted'), 'who is left out');
  ok((await polls()) === 0, 'threads of other processes do not wait');
  await page.keyboard.press('e');
  await settle(page);
  await until(page, () =>
    document.querySelector('.left-out')?.textContent.startsWith('Threads of'),
  );
  ok((await polls()) === 1, 'e: threads of all processes wait');
  const fragment = await fragmentOf(page);
  ok(fragment.includes('everyone=1'), 'the address says so', fragment);
  const again = await open(browser, server.address, fragment);
  ok((await rowOf(again.page, 'poller').count()) === 1, 'an address shows all processes');
  await again.page.locator('.left-out button').click();
  await until(again.page, () => document.querySelector('.left-out')?.textContent.startsWith('2'));
  ok((await rowOf(again.page, 'poller').count()) === 0, 'a click shows the recorded program');
  await again.context.close();
  ok(trouble.length === 0, 'processes: no console error', trouble.join('; '));
  await context.close();
  server.close();
}

/** Labels of threads touch neither each other nor the ring, in small windows and large ones. */
async function labels(ok, page) {
  const before = page.viewportSize();
  for (const size of [
    { width: 1280, height: 720 },
    { width: 1920, height: 1080 },
  ])
    for (const key of ['f', 'f']) {
      await page.setViewportSize(size);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press(key);
      await settle(page);
      const wrong = await page.evaluate(async () => {
        const { stage } = await window.weftReady;
        const area = document.querySelector('.plate').getBoundingClientRect();
        const all = [...document.querySelectorAll('.badge-thread')].map(one => ({
          of: Number(one.dataset.thread),
          box: one.getBoundingClientRect(),
        }));
        const isOver = (a, b) =>
          a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        const rings = stage.frames().filter(({ isRing }) => isRing);
        return all.flatMap(({ of, box }, i) => [
          ...all.slice(i + 1).filter(one => isOver(box, one.box)),
          ...(box.bottom > area.bottom || box.left < area.left || box.right > area.right
            ? [`${of} outside`]
            : []),
          ...rings
            .filter(ring => ring.spot((box.left + box.right) / 2 - area.left, box.top - area.top))
            .map(() => `${of} on the ring`),
        ]);
      });
      ok(wrong.length === 0, `labels stand apart, ${size.width} ${key}`, JSON.stringify(wrong));
    }
  await page.setViewportSize(before);
  await settle(page);
}

export async function testInterplay(ok, browser) {
  const server = await serveBrowser();
  const { page, context, trouble } = await open(browser, server.address);
  const steps = await page.evaluate(() => history.length);
  ok(steps === 2, 'threads that come by themselves are no step for "back"', String(steps));
  await hits(ok, page, 300);
  await overview(ok, page);
  await workers(ok, page);
  await hangMonitor(ok, page);
  await compressor(ok, page);
  await mainThread(ok, page);
  await poller(ok, page);
  await objects(ok, page);
  await accessible(ok, page, 'plate');
  await views(ok, page);
  await forms(ok, browser, server.address, page);
  await lanes(ok, page);
  await processes(ok, browser);
  await context.close();
  const own = await open(browser, server.address);
  await labels(ok, own.page);
  trouble.push(...own.trouble);
  ok(trouble.length === 0, 'Interplay: no console error', trouble.join('; '));
  await own.context.close();
  server.close();
  const { WEFT_BIN, WEFT_RECORDED } = process.env;
  if (WEFT_BIN && WEFT_RECORDED) await real(ok, browser, WEFT_BIN, WEFT_RECORDED);
}
