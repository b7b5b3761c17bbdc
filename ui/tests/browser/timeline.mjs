// SPDX-License-Identifier: MIT
// The timeline in a headless browser, before a stand-in for the server; before the real one when
// WEFT_BIN and WEFT_TRACE say which. usage: node timeline.mjs (after npm run build), or from run.mjs.
import { pathToFileURL } from 'node:url';
import { makeTap, openAt, openBrowser, PATIENCE_MS, settle } from './page.mjs';
import { makeTrace, startBefore, startBinary, startServer } from './timelineserver.mjs';

let ok = () => undefined;

const open = (browser, address, fragment = '', options = {}) => {
  const { origin } = new URL(address);
  const isOwn = url => /^(data|blob):/.test(url) || url.startsWith(origin);
  return openAt(browser, `${address}#v=1&s=2${fragment}`, isOwn, options);
};

const press = async (page, key) => {
  await page.keyboard.press(key);
  await settle(page);
};

const stateOf = page =>
  page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { window: view, range, crumbs, hidden } = app.state.get();
    const { call, set, isSetOnly } = app.served.state.get();
    const n = set && { n: set.n, total: set.total };
    return {
      window: view,
      range,
      crumbs: crumbs.length,
      hidden: hidden.size,
      call,
      set: n,
      isSetOnly,
    };
  });

const pixels = page =>
  page.evaluate(() => document.querySelector('.tchart .area canvas').toDataURL());

/** Places of the chart with a call under them, spread over it, in page coordinates. */
const placesOf = (page, many, least) =>
  page.evaluate(
    async ([n, width]) => {
      const { app, stage } = await window.weftReady;
      const area = document.querySelector('.tchart .area').getBoundingClientRect();
      const found = [];
      let seed = 12345;
      const rand = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
      for (let i = 0; i < 20000 && found.length < n; i++) {
        const [x, y] = [Math.floor(rand() * area.width), Math.floor(rand() * area.height)];
        const hit = stage.hit(x, y);
        if (!hit || hit.count !== 1 || hit.x1 - hit.x0 < width || hit.y1 > area.height) continue;
        if (found.some(one => one.start === hit.start && one.thread === hit.thread)) continue;
        const { thread, depth, start, end, fn } = hit;
        const name = app.served.names.name[fn];
        found.push({ thread, depth, start, end, fn, name, x: area.left + x, y: area.top + y });
      }
      return found;
    },
    [many, least],
  );

/** The server's word on what is at a place. */
const ask = (page, name, params) =>
  page.evaluate(
    async ([of, query]) => {
      const { app } = await window.weftReady;
      return app.served.source.json(of, query);
    },
    [name, params],
  );

async function opens(page, server) {
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector('.tchart .area canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
      seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size;
  });
  ok(colours > 8, 'timeline: threads are painted', `${colours} colours`);
  const labels = await page.locator('.tchart .rows .label').count();
  ok(labels > 2 && labels < 60, 'timeline: only threads in view are in the document', `${labels}`);
  const lods = server.asked.filter(url => /\/lod\?.*threads=/.test(url));
  const many = lods.map(
    url => decodeURIComponent(/threads=([^&]*)/.exec(url)[1]).split(',').length,
  );
  ok(Math.max(...many) <= 48, 'timeline: asks for few threads at a time', `${Math.max(...many)}`);
  ok(/max \d/.test(await page.textContent('.tmap')), 'timeline: the mini-map says its maximum');
}

async function hovers(page) {
  let [right, named] = [0, 0];
  const places = await placesOf(page, 10, 3);
  for (const place of places) {
    const { thread, depth, start, name } = place;
    const word = await ask(page, 'item', { thread, at: Math.ceil(start), depth });
    if (word.found && Math.abs(word.start_ns - start) < 1 && word.function === place.fn) right++;
    await page.mouse.move(place.x, place.y);
    await page.locator('.tip').waitFor({ timeout: PATIENCE_MS });
    if ((await page.textContent('.tip')).includes(name)) named++;
  }
  const n = places.length;
  ok(
    n >= 5 && right === n,
    'timeline: what is under the pointer is what the server says',
    `${right} of ${n}`,
  );
  ok(named === n, 'timeline: the tool-tip names it', `${named} of ${n}`);
  await page.mouse.move(300, 20);
  const delay = await page.evaluate(async ({ x, y }) => {
    await new Promise(resolve => setTimeout(resolve, 100));
    const area = document.querySelector('.tchart .area');
    const started = performance.now();
    area.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }));
    while (!document.querySelector('.tip') && performance.now() - started < 5000)
      await new Promise(resolve => setTimeout(resolve, 1));
    return performance.now() - started;
  }, places[0]);
  const tips = await page.locator('.tip').count();
  ok(tips === 1, 'timeline: the tool-tip comes when the pointer comes again');
  console.log(`# timeline: the tool-tip came after ${delay.toFixed(1)} ms`);
}

async function selects(page) {
  const [place] = await placesOf(page, 1, 40);
  await page.mouse.click(place.x, place.y);
  await settle(page);
  const { call } = await stateOf(page);
  ok(call?.start === place.start, 'timeline: click selects the call');
  const facts = await page.textContent('.tpanel .facts');
  ok(facts.includes(place.name) && facts.includes('Self'), 'timeline: with its facts');
  ok((await page.textContent('#said')).includes(place.name), 'timeline: it is announced');
  await page.locator('.versus .plot').waitFor({ timeout: PATIENCE_MS });
  const { count } = await ask(page, 'histogram', { fn: [place.fn] });
  const words = await page.textContent('.versus h2');
  ok(
    words.includes(count.toLocaleString('en-US')),
    'timeline: against all calls of its function',
    words,
  );
  const item = await ask(page, 'item', {
    ...{ thread: place.thread, at: Math.ceil(place.start), depth: place.depth },
  });
  const rows = await page.locator('.below tbody tr').count();
  ok(rows === Math.min(60, item.children.length) + 1, 'timeline: with what it called', `${rows}`);
  await settle(page);
  ok(/at=t\d+\.\d+\.\d+/.test(page.url()), 'timeline: the address names the call');
  await page.locator('.versus .link:has-text("slowest")').last().click();
  await settle(page);
  const slowest = await stateOf(page);
  const longest = slowest.call.end - slowest.call.start;
  ok(
    slowest.call.fn === place.fn && longest >= place.end - place.start && slowest.crumbs === 1,
    'timeline: the slowest is a click away',
  );
  await press(page, 'Backspace');
}

async function walks(page) {
  await page.locator('#chart').focus();
  await press(page, 'Escape');
  await press(page, 'ArrowDown');
  const first = (await stateOf(page)).call;
  ok(first !== null && first.depth === 0, 'timeline: arrows begin with a thread');
  await press(page, 'Shift+ArrowDown');
  const other = (await stateOf(page)).call;
  ok(other.thread !== first.thread, 'timeline: Shift and down goes to another thread');
  let now = other;
  for (let i = 0; i < 8 && now.depth === 0; i++) {
    await press(page, 'ArrowRight');
    await press(page, 'ArrowDown');
    now = (await stateOf(page)).call;
  }
  ok(now.depth === 1, 'timeline: down goes to what it called', JSON.stringify(now));
  await press(page, 'ArrowUp');
  const above = (await stateOf(page)).call;
  ok(
    above.depth === 0 && above.start <= now.start && above.end >= now.end,
    'timeline: up to the caller',
  );
  await press(page, ',');
  const before = (await stateOf(page)).call;
  const isBefore = before.start < above.start && before.thread === above.thread;
  const isFirst = (await page.textContent('#said')).includes('no earlier');
  const isThere = isFirst || (isBefore && before.depth === above.depth);
  ok(isThere, 'timeline: , goes to the call before');
  if (!isFirst) await press(page, '.');
  ok((await stateOf(page)).call.start === above.start, 'timeline: . goes to the next');
  await press(page, 'R');
  const { range } = await stateOf(page);
  ok(range.t0 === above.start && range.t1 === above.end, 'timeline: R makes it the range');
  await press(page, 'Escape');
  await press(page, 'f');
  await press(page, 'f');
  const { window: view, crumbs } = await stateOf(page);
  const share = (above.end - above.start) / (view.t1 - view.t0);
  ok(crumbs > 0 && share > 0.8 && share <= 1, 'timeline: F twice fits the call', `${share}`);
  await press(page, 'Shift+>');
  const unusual = (await stateOf(page)).call;
  ok(unusual.start !== above.start, 'timeline: Shift and . goes to an outlier');
  await press(page, 'Home');
  await press(page, 'Escape');
}

async function moves(page) {
  const area = await page.locator('.tchart .area').boundingBox();
  const [x, y] = [area.x + 600, area.y + 30];
  const before = (await stateOf(page)).window;
  const timeAt = view => view.t0 + ((x - area.x) / area.width) * (view.t1 - view.t0);
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await settle(page);
  const zoomed = (await stateOf(page)).window;
  const width = zoomed.t1 - zoomed.t0;
  ok(width < before.t1 - before.t0, 'timeline: Ctrl and wheel zooms');
  ok(Math.abs(timeAt(zoomed) - timeAt(before)) < width / 200, 'timeline: at the pointer');
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(x - 200, y, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const panned = (await stateOf(page)).window;
  ok(
    panned.t0 > zoomed.t0 && (await stateOf(page)).range === null,
    'timeline: Shift and drag pans',
  );
  await press(page, 'KeyW');
  await press(page, 'KeyA');
  const keyed = (await stateOf(page)).window;
  ok(keyed.t1 - keyed.t0 < width, 'timeline: w zooms, a pans');
  await press(page, 'Home');
  const scroll = page.locator('.tchart .scroller');
  await page.mouse.wheel(0, 300);
  await settle(page);
  ok((await scroll.evaluate(node => node.scrollTop)) > 0, 'timeline: the wheel scrolls threads');
  await scroll.evaluate(node => (node.scrollTop = 0));
  await settle(page);
}

async function measures(page) {
  const area = await page.locator('.tchart .area').boundingBox();
  const y = area.y + area.height - 8;
  await page.mouse.move(area.x + 300, y);
  await page.mouse.down();
  await page.mouse.move(area.x + 500, y, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  const { range } = await stateOf(page);
  ok(range !== null, 'timeline: drag selects a range');
  ok(/\d/.test(await page.textContent('.trange')), 'timeline: with its duration');
  const edge = await page.evaluate(async () => {
    const { app, stage } = await window.weftReady;
    return stage.view().x(app.state.get().range.t1);
  });
  await page.mouse.move(area.x + edge, y);
  await page.mouse.down();
  await page.mouse.move(area.x + edge + 120, y, { steps: 5 });
  await page.mouse.up();
  const wider = (await stateOf(page)).range;
  ok(wider.t0 === range.t0 && wider.t1 > range.t1, 'timeline: its edges can be dragged');
  const still = await pixels(page);
  await press(page, 'z');
  const zoomed = await stateOf(page);
  ok(zoomed.crumbs === 1 && zoomed.window.t0 === wider.t0, 'timeline: z zooms to it, with a crumb');
  await settle(page);
  await page.goBack();
  await settle(page);
  await press(page, 'Escape');
  ok((await pixels(page)) === still, 'timeline: back returns to the same pixels');
  await press(page, 'Home');
}

async function menus(page) {
  const [place] = await placesOf(page, 1, 60);
  await page.mouse.click(place.x, place.y, { button: 'right' });
  const words = await page.locator('.menu button').allTextContents();
  const first = words.slice(0, 3).map(word => word.trim().replace(/\s*R$/, ''));
  const wanted = ['Start range here', 'End range here', 'Range = this item'];
  ok(JSON.stringify(first) === JSON.stringify(wanted), 'timeline: the menu', first.join(', '));
  await page.locator('.menu button').nth(2).click();
  const { range } = await stateOf(page);
  ok(range?.t0 === place.start, 'timeline: range = this item');
  await press(page, 'Escape');
  await page.keyboard.down('Control');
  await page.mouse.click(place.x, place.y);
  await page.keyboard.up('Control');
  ok((await stateOf(page)).set?.n === 1, 'timeline: Ctrl and click picks it');
  await press(page, 'Escape');
  await page.mouse.dblclick(place.x, place.y);
  await settle(page);
  const { window: view } = await stateOf(page);
  const share = (place.end - place.start) / (view.t1 - view.t0);
  ok(share > 0.8, 'timeline: a double click zooms to it', `${share}`);
  for (let i = 0; i < 3; i++) await press(page, 'Escape');
  await press(page, 'Home');
}

async function flags(page) {
  await page.mouse.move(300, 20);
  await press(page, 'm');
  const count = () =>
    page.evaluate(async () => {
      const key = Object.keys(localStorage).find(one => one.startsWith('weft flags'));
      return JSON.parse(localStorage.getItem(key) ?? '[]');
    });
  ok((await count()).length === 1, 'timeline: m sets a flag, which is kept');
  await page.keyboard.press('Shift+M');
  await page.locator('.tnote input').fill('here it hangs');
  await page.keyboard.press('Enter');
  ok((await count())[0].note === 'here it hangs', 'timeline: Shift+M writes a note');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('.settings >> text=save notes'),
  ]);
  ok(download.suggestedFilename().endsWith('.notes.json'), 'timeline: notes can be saved');
  await page.locator('#chart').focus();
  await press(page, 'm');
  ok((await count()).length === 0, 'timeline: m takes it away');
}

async function threads(page) {
  const first = () => page.locator('.tchart .rows:not(.pinned) .thread b').first().textContent();
  const [place] = await placesOf(page, 1, 30);
  await page.mouse.click(place.x, place.y);
  await page.mouse.move(300, 20);
  await press(page, 'p');
  ok((await page.locator('.rows.pinned .label').count()) === 1, 'timeline: p pins a thread');
  await settle(page);
  ok(/pin=t\d+/.test(page.url()), 'timeline: the address says so');
  await press(page, 'p');
  ok((await page.locator('.rows.pinned').count()) === 0, 'timeline: and unpins it');
  const orders = new Set();
  for (let i = 0; i < 5; i++) {
    await settle(page);
    orders.add(await first());
    await press(page, 'g');
  }
  ok(orders.size >= 2, 'timeline: g sorts otherwise', [...orders].join(', '));
  const heights = new Set();
  for (let i = 0; i < 3; i++) {
    heights.add(await page.evaluate(() => document.querySelector('.tchart .content').style.height));
    await press(page, 'Shift+E');
  }
  ok(heights.size >= 2, 'timeline: E changes the levels shown', [...heights].join(', '));
  await page.locator('.tchart .label').first().hover();
  await page.locator('.tchart .label .pin >> text=hide').first().click();
  ok((await stateOf(page)).hidden === 1, 'timeline: a thread can be hidden');
  await page.click('.crumbs >> text=hidden');
  await press(page, 'Escape');
}

async function sets(page) {
  const name = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const { served } = app;
    const part = { min_ns: 1000, limit: 1000, sort: 'longest' };
    const { tables } = await served.source.columns('calls', part);
    const of = tables.get('calls').columns.get('function');
    return served.names.name[of[Math.floor(of.length / 2)]];
  });
  await page.keyboard.press('/');
  await page.keyboard.type(`fn:"${name}" min:1us`);
  await settle(page);
  const { set } = await stateOf(page);
  ok(set?.total > 0, 'timeline: a search makes a set', `${name} ${JSON.stringify(set)}`);
  const hits = await page.textContent('.hits');
  ok(hits.includes(set.total.toLocaleString('en-US')), 'timeline: and says how many', hits);
  await page.keyboard.press('Enter');
  await settle(page);
  const { call } = await stateOf(page);
  const fn = await page.evaluate(async id => {
    const { app } = await window.weftReady;
    return app.served.names.name[id];
  }, call.fn);
  ok(fn === name && call.end - call.start >= 1000, 'timeline: Enter goes to a call of it');
  await page.locator('#chart').focus();
  await press(page, '.');
  ok((await stateOf(page)).call.start > call.start, 'timeline: . goes to the next of the set');
  await press(page, 'h');
  ok((await stateOf(page)).isSetOnly, 'timeline: h leaves only its threads');
  await press(page, 'h');
  await page.fill('#search', '');
  await page.locator('#chart').focus();
  await settle(page);
  ok((await stateOf(page)).set === null, 'timeline: without words there is no set');
  for (let i = 0; i < 3; i++) await press(page, 'Escape');
  await press(page, 'Home');
}

async function maps(page) {
  const box = await page.locator('.tmap canvas').boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await settle(page);
  const { window: view } = await stateOf(page);
  const whole = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    return app.model.trace.duration;
  });
  const near = (t, share) => Math.abs(t / whole - share) < 0.01;
  ok(
    near(view.t0, 0.25) && near(view.t1, 0.5),
    'timeline: dragging in the mini-map sets the window',
  );
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 });
  await page.mouse.up();
  ok(near((await stateOf(page)).window.t1, 0.75), 'timeline: and so does its edge');
  await press(page, 'Home');
}

async function links(browser, address) {
  const first = await open(browser, address);
  const [place] = await placesOf(first.page, 1, 40);
  await first.page.mouse.click(place.x, place.y);
  await first.page.mouse.move(300, 20);
  for (const key of ['p', 'KeyW', 'KeyW', 'KeyD', 'g']) await press(first.page, key);
  await first.page.waitForFunction(() => location.hash.includes('tracks='));
  await settle(first.page);
  const [url, picture] = [first.page.url(), await pixels(first.page)];
  await first.context.close();
  const again = await open(browser, address, url.split('s=2')[1]);
  await settle(again.page);
  await settle(again.page);
  ok((await pixels(again.page)) === picture, 'timeline: a link shows the same pixels', url);
  ok((await stateOf(again.page)).call?.start === place.start, 'timeline: and the same call');
  await again.context.close();
}

/** Pans and zooms for `seconds`; what every frame took. */
export const drive = (page, seconds) =>
  page.evaluate(async ms => {
    const { app, stage } = await window.weftReady;
    const { duration } = app.model.trace;
    const [frames, paints] = [[], []];
    const paint = stage.paint.bind(stage);
    stage.paint = () => {
      const started = performance.now();
      paint();
      paints.push(performance.now() - started);
    };
    const show = (t0, t1) => {
      const width = Math.max(200, Math.min(duration, t1 - t0));
      const from = Math.round(Math.min(Math.max(0, t0), duration - width));
      app.state.update(now => ({ ...now, window: { t0: from, t1: Math.round(from + width) } }));
    };
    const begun = performance.now();
    let last = begun;
    await new Promise(done => {
      let n = 0;
      const tick = now => {
        frames.push(now - last);
        last = now;
        if (performance.now() - begun > ms) return done();
        const { t0, t1 } = app.state.get().window;
        const [width, phase] = [t1 - t0, Math.floor(n++ / 12) % 5];
        const at = t0 + width * 0.45;
        if (phase < 2) show(at - (at - t0) * 0.96, at + (t1 - at) * 0.96);
        else if (phase === 2) show(t0 + width * 0.02, t1 + width * 0.02);
        else if (phase === 3) show(t0 - width * 0.03, t1 - width * 0.03);
        else show(at - (at - t0) * 1.05, at + (t1 - at) * 1.05);
        return requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    });
    stage.paint = paint;
    const of = (list, share) => {
      const sorted = [...list].sort((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    };
    return {
      ...{ frames: frames.length, median: of(frames, 0.5), worst: of(frames.slice(2), 1) },
      ...{ paint: of(paints, 0.5), paintWorst: of(paints, 1) },
      bytes: stage.loader.store.bytes,
    };
  }, seconds * 1000);

async function speed(browser, address) {
  const { page, context, trouble } = await open(browser, address);
  const seconds = Number(process.env.WEFT_DRIVE_SECONDS ?? 1);
  const found = await drive(page, seconds);
  const words = `median ${found.median.toFixed(1)} ms, worst ${found.worst.toFixed(1)} ms`;
  console.log(`# timeline: ${found.frames} frames in ${seconds} s, ${words} a frame`);
  console.log(
    `# timeline: painting took ${found.paint.toFixed(1)} ms (median), ${found.paintWorst.toFixed(1)} ms at most; ${(found.bytes / 1e6).toFixed(1)} MB of tiles`,
  );
  ok(trouble.length === 0, 'timeline: moving makes no trouble', trouble.join('; '));
  await context.close();
}

async function sizes(browser) {
  for (const [threads, width, dpr] of [
    [0, 1600, 1],
    [1, 1280, 2],
    [3000, 1280, 1],
  ]) {
    const few = makeTrace(Math.min(threads, 4), 3, 4e6);
    const list = Array.from({ length: threads }, (_, id) => {
      const like = few.threads[id % few.threads.length];
      return { ...like, id, tid: 100 + id, calls: like.calls.slice(0, 40) };
    });
    const server = await startServer({ ...few, threads: list });
    const options = { viewport: { width, height: 800 }, deviceScaleFactor: dpr };
    const { page, context, trouble } = await open(browser, server.address, '', options);
    ok(trouble.length === 0, `timeline: ${threads} threads: no trouble`, trouble.join('; '));
    const labels = await page.locator('.tchart .rows .label').count();
    ok(labels < 60, `timeline: ${threads} threads: few labels`, `${labels}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    ok(over <= 0, `timeline: ${threads} threads: no horizontal scrolling`, `${over}`);
    await context.close();
    server.close();
  }
}

async function themes(browser, address) {
  const pictures = new Set();
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await open(browser, address, '', { colorScheme });
    pictures.add(await pixels(page));
    await context.close();
  }
  ok(pictures.size === 2, 'timeline: follows the system: light and dark');
}

/** What changes between the drawing of the screen and its effects is shown all the same. */
async function early(page) {
  await page.evaluate(async () => {
    const { app } = await window.weftReady;
    const show = screen => app.state.update(now => ({ ...now, screen }));
    const [flags, editing] = [[{ t: 5, note: 'early', isGiven: false }], 0];
    app.live.plan = () => undefined; // new rows would have all drawn again
    show('overview');
    await new Promise(resolve => setTimeout(resolve, 200));
    show('timeline');
    for (let i = 0; i < 100 && !document.querySelector('.tchart'); i++) await Promise.resolve();
    const { stage } = await window.weftReady; // no frame, no timer so far: no effect has run
    stage.timeline.state.update(now => ({ ...now, flags, editing }));
  });
  await settle(page);
  const notes = await page.locator('.tnote').count();
  ok(notes === 1, 'timeline: what changes while it is drawn is shown', String(notes));
}

/** Everything; `say` takes (is it so, what, more about it). */
export async function timelineTests(browser, say) {
  ok = say;
  const { WEFT_BIN: binary, WEFT_TRACE: trace } = process.env;
  const isReal = Boolean(binary && trace);
  const program = isReal ? await startBinary(binary, trace) : null;
  const server = program ? await startBefore(program.address) : await startServer(makeTrace(12));
  try {
    const { page, context, trouble } = await open(browser, server.address);
    await opens(page, server);
    for (const part of [hovers, selects, walks, moves, measures, menus, flags, threads, sets, maps])
      await part(page);
    await early(page);
    ok(trouble.length === 0, 'timeline: no console error, no other host', trouble.join('; '));
    await context.close();
    await links(browser, server.address);
    await themes(browser, server.address);
    await speed(browser, server.address);
    if (!isReal) await sizes(browser);
  } finally {
    server.close();
    program?.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const tap = makeTap(560);
  const browser = await openBrowser();
  try {
    await timelineTests(browser, tap.ok);
  } catch (error) {
    tap.threw(error);
  }
  await browser.close();
  tap.end();
}
