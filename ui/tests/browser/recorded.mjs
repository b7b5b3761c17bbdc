// SPDX-License-Identifier: MIT
// Screen 4 on fresh recordings of the bundled examples: what SyncTrace (section V) found in a browser is
// found here by the same steps, and is not there in the variants without the fault. What the page says
// is compared with the command line; of times it is never said how long they must be.
// usage: node recorded.mjs WEFT FOLDER, with workers.weft, workers-fixed.weft, hang.weft,
// hang-fixed.weft and poll.weft in the folder. Prints TAP.
import { join } from 'node:path';
import { troubleOf, walkByTab } from './access.mjs';
import { findChromium, fragmentOf, makeTap, openBrowser, settle } from './page.mjs';
import { badges, drag, hits, rowOf, spotOf, tab, tipAt, tipAtPlace, viewsOf } from './plate.mjs';
import { ask, openServed, quiet, serve } from './serve.mjs';

const [weft, folder] = process.argv.slice(2);
const { ok, end, threw } = makeTap(560);

const traceOf = name => join(folder, `${name}.weft`);
const plain = text => text.replace(/\u00a0/g, ' ');

/** Threads by their places in the page: tid and name. */
const threadsOf = page =>
  page.evaluate(async () =>
    (await window.weftReady).app.served.threads.map(({ tid, name }) => ({ tid, name })),
  );

/** All patterns that the page names. */
async function patternsOn(page) {
  const more = page.locator('.interplay-patterns .more[aria-expanded=false]');
  if ((await more.count()) > 0) await more.click();
  await settle(page);
  const said = await page.locator('.interplay-patterns li').allTextContents();
  const fewer = page.locator('.interplay-patterns .more');
  if ((await fewer.count()) > 0) await fewer.click();
  return said.map(plain);
}

const patternOf = (answer, kind) => answer.patterns.filter(({ pattern }) => pattern === kind);

/** Calls of a function on a thread that are drawn as themselves, the longest first. */
const callsOf = (page, thread, name) =>
  page.evaluate(
    async ([id, wanted]) => {
      const { app, stage } = await window.weftReady;
      const frame = stage.frames().find(one => one.thread === id);
      const { calls } = stage.screen.loader.of(id);
      const fn = app.served.names.name.indexOf(wanted);
      const out = [];
      for (let level = 0; level + 1 < calls.depthFrom.length && level < frame.shown; level++)
        for (let i = calls.depthFrom[level]; i < calls.depthFrom[level + 1]; i++)
          if (calls.longestFn[i] === fn && calls.count[i] === 1 && calls.end[i] > frame.view.t0)
            if (calls.start[i] < frame.view.t1)
              out.push({ start: calls.start[i], end: calls.end[i], level });
      return out.sort((a, b) => b.end - b.start - (a.end - a.start));
    },
    [thread, name],
  );

/** A place between the threads where one wait's curve is on top, and whose wait that is. */
const placeOnCurve = page =>
  page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const box = document.querySelector('.plate').getBoundingClientRect();
    const { split, center, inner } = stage.plate();
    for (let y = split + 12; y < center.y + inner - 12; y += 4)
      for (let x = center.x - inner; x < center.x + inner; x += 4) {
        const curve = stage.frameAt(x, y) || stage.gripAt(x, y) ? null : stage.curveAt(x, y);
        const at = { x: box.left + x, y: box.top + y };
        const isFree = document.elementFromPoint(at.x, at.y)?.closest('button') === null;
        if (curve && curve.count === 1 && isFree) return { ...at, ...curve };
      }
    return null;
  });

/** The middle of the widest aggregate of a thread. */
const placeOfMany = (page, thread) =>
  page.evaluate(async id => {
    const { stage } = await window.weftReady;
    const frame = stage.frames().find(one => one.thread === id);
    const { calls } = stage.screen.loader.of(id);
    let best = null;
    for (let level = 0; level + 1 < calls.depthFrom.length && level < frame.shown; level++)
      for (let i = calls.depthFrom[level]; i < calls.depthFrom[level + 1]; i++) {
        const length = calls.end[i] - calls.start[i];
        if (calls.count[i] > 1 && length > (best?.length ?? 0))
          best = { t: (calls.start[i] + calls.end[i]) / 2, level, length, count: calls.count[i] };
      }
    return best;
  }, thread);

const servers = new Set();

async function openOn(browser, name) {
  const trace = traceOf(name);
  const server = await serve(weft, [trace]);
  servers.add(server);
  const { page, context, trouble } = await openServed(browser, `${server.url}#v=1&s=4`);
  await quiet(page);
  const answer = ask(weft, 'interplay', trace);
  const close = async () => {
    ok(trouble.length === 0, `${name}: no trouble`, trouble.join('; '));
    await context.close();
    await server.stop();
    servers.delete(server);
  };
  return { page, answer, threads: await threadsOf(page), close };
}

/* ---- farmer and workers ---- */

/** Who is shown at first: the one that all wait for, and those with most blocked time with it. */
async function atFirst(page, answer, threads) {
  const [focus, ...contexts] = await badges(page);
  ok(threads[focus].name === 'farmer', 'the thread for which the others wait is the main view');
  const farmer = threads[focus].tid;
  const sums = new Map();
  for (const { waiter_tid, releaser_tid, sum_ns } of answer.matrix) {
    const other =
      waiter_tid === farmer ? releaser_tid : releaser_tid === farmer ? waiter_tid : null;
    if (other !== null && other !== farmer) sums.set(other, (sums.get(other) ?? 0) + sum_ns);
  }
  const most = [...sums.values()].sort((a, b) => b - a).slice(0, 8);
  const shown = contexts.map(thread => sums.get(threads[thread].tid));
  ok(
    JSON.stringify(shown) === JSON.stringify(most),
    'around it are the eight that it has most blocked time with, in this order',
    `${shown} instead of ${most}`,
  );
  const head = await page.textContent('.interplay-head h1');
  ok(head.includes('for T') && head.includes('farmer'), 'the first sentence names it', head);
  return focus;
}

/** All wait for one; most of them do nothing else. */
async function farmerAndWorkers(page, answer, focus) {
  const said = await patternsOn(page);
  const [farmer] = patternOf(answer, 'farmer');
  ok(
    said.some(text => text === `farmer ${farmer?.text}`),
    'the page says that there is a farmer, and of how many workers',
    said.join(' | '),
  );
  const idle = patternOf(answer, 'idle').filter(({ thread }) => thread === 'worker');
  ok(
    idle.length > 0 && said.some(text => text === `idle ${idle[0].text}`),
    'and that there are workers that do next to nothing: superfluous ones',
    said.join(' | '),
  );
  await tab(page, 'Blocked by');
  const rows = page.locator('table.matrix tbody tr', { hasText: 'worker' });
  const column = await page
    .locator('table.matrix thead th')
    .evaluateAll(
      (all, title) => all.findIndex(one => one.title === title),
      await title(page, focus),
    );
  const lacking = await rows.evaluateAll(
    (all, at) => all.filter(row => !row.children[at]?.querySelector('button')).length,
    column,
  );
  ok(column > 0 && lacking === 0, 'the matrix: every worker waits for the farmer', `${lacking}`);
  await rows
    .first()
    .locator('td')
    .nth(column - 1)
    .locator('button')
    .click();
  const facts = await page.textContent('.facts');
  ok(
    facts.includes('condition') && /ended by T\d+ farmer in put_task/.test(facts),
    'a cell leads to the longest wait: for which object, ended by whom, from where',
    facts,
  );
  await page.keyboard.press('Escape');
  await tab(page, 'Threads');
}

const title = (page, thread) =>
  page.evaluate(async id => (await window.weftReady).stage.screen.title(id), thread);

/** A worker comes to the main view by dragging: its functions say what it is. */
async function swapped(page, threads, focus) {
  await rowOf(page, 'farmer').locator('.row-link').click();
  await quiet(page);
  const shown = await badges(page);
  const worker = shown.find(thread => threads[thread].name === 'worker');
  const boxOf = async thread => {
    const box = await page.locator(`.badge-thread[data-thread="${thread}"]`).boundingBox();
    return { x: box.x + 8, y: box.y + 8 };
  };
  await drag(page, await boxOf(worker), await boxOf(focus));
  const now = await badges(page);
  ok(now[0] === worker, 'a context thread that is dragged onto the main view takes its place');
  ok(now[shown.indexOf(worker)] === focus, 'and the farmer that of the worker');
  const [life] = await callsOf(page, worker, 'work');
  const tip = await tipAt(page, worker, (life.start + life.end) / 2, life.level);
  ok(
    /^work/.test(tip) && /waiting[^%]+%/.test(tip) && tip.includes('of the lifetime of'),
    'its function under the pointer, and how much of its life it waits',
    tip,
  );
  ok(/calls wait_for_task/.test(tip), 'which is a loop that waits for tasks', tip);
  await page.mouse.move(5, 5);
  return worker;
}

/** Curves and bundles tell what they are. */
async function hovered(page, threads, worker) {
  const place = await placeOnCurve(page);
  ok(place !== null, 'there are curves between the threads');
  const tip = await tipAtPlace(page, place);
  const [by, to] = [threads[place.thread], threads[place.to]];
  ok(
    tip.includes(`T${by.tid}`) && tip.includes(`ended by T${to.tid} ${to.name}`),
    'the pointer on a curve: who waited, and who let it go on',
    `${tip}, of ${JSON.stringify(place)}`,
  );
  const length = await page.evaluate(
    async ([thread, item]) => {
      const { stage } = await window.weftReady;
      const waits = stage.screen.waitsOf(thread);
      return waits.end[item] - waits.start[item];
    },
    [place.thread, place.item],
  );
  const words = length < 1e6 ? /\d (µs|ns)/ : /\d (ms|s)/;
  ok(/(condition|mutex|join)/.test(tip) && words.test(tip), 'for which object, and how long', tip);
  await page.mouse.click(place.x, place.y);
  ok((await page.textContent('.facts')).includes(`T${to.tid}`), 'a click on it selects the wait');
  await page.keyboard.press('Escape');
  await tab(page, 'Threads');
  const many = (await placeOfMany(page, worker)) ?? null;
  for (const thread of many ? [worker] : await badges(page)) {
    const found = await placeOfMany(page, thread);
    if (!found) continue;
    const said = await tipAt(page, thread, found.t, found.level);
    ok(
      /^\d+ short (calls|waits)/.test(said) && /(here|longest): \w/.test(said),
      'the pointer on an aggregate: how many calls are in it, and the one that is there',
      said,
    );
    break;
  }
  await page.mouse.move(5, 5);
}

/** Room: for one thread, for levels, for curves; folding; colours. */
async function arranged(page, worker) {
  const sizes = () =>
    page.evaluate(async () =>
      (await window.weftReady).stage
        .frames()
        .slice(1)
        .map(({ thread, ring }) => [thread, ring.to - ring.from]),
    );
  const [[context, small]] = await sizes();
  await page.locator(`.badge-thread[data-thread="${context}"]`).focus();
  await page.keyboard.press('f');
  ok(new Map(await sizes()).get(context) > 2 * small, 'f gives a context thread more room');
  ok((await page.locator('.plate-overview').count()) === 2, 'and an overview of its own');
  await page.keyboard.press('f');
  const foldOf = () =>
    page.evaluate(async () => (await window.weftReady).stage.frames()[0].levels.fold);
  const [life] = await callsOf(page, worker, 'work');
  const middle = await spotOf(page, worker, (life.start + life.end) / 2, 0);
  await page.mouse.move(middle.x, middle.y);
  for (let i = 0; i < 2; i++) await page.mouse.wheel(0, 100);
  await settle(page);
  ok((await foldOf()) === 2, 'the wheel folds upper levels, one by one');
  for (let i = 0; i < 2; i++) await page.mouse.wheel(0, -100);
  await settle(page);
  ok((await foldOf()) === 0, 'and unfolds them');
  const plateOf = () => page.evaluate(async () => (await window.weftReady).stage.plate());
  const before = await plateOf();
  await page.keyboard.press('-');
  ok((await plateOf()).inner < before.inner, 'the inner radius: less room for curves');
  await page.keyboard.press('+');
  const box = await page.locator('.plate').boundingBox();
  const line = { x: box.x + 200, y: box.y + before.split - 2 };
  await drag(page, line, { x: line.x, y: line.y + 40 });
  ok((await plateOf()).split > before.split + 20, 'the splitter moves');
  await drag(page, { x: line.x, y: line.y + 40 }, line);
}

const colorsOf = page =>
  page.evaluate(async () => {
    const { stage } = await window.weftReady;
    const grey = getComputedStyle(document.documentElement).getPropertyValue('--grey').trim();
    const colors = stage.curves().map(curve => {
      const data = stage.screen.loader.of(curve.thread);
      const object = data.waits.objects[curve.object];
      return {
        isGrey: stage.colorOf(curve, data) === grey,
        isShared: (object?.waiters ?? 0) > 1,
        thread: curve.thread,
      };
    });
    return colors;
  });

/** The workers share the object that they wait for: it has a colour. */
async function objects(page) {
  await page.mouse.move(5, 5);
  ok(
    (await colorsOf(page)).every(({ isGrey }) => !isGrey),
    'curves have the colours of threads',
  );
  await page.keyboard.press('o');
  const colors = await colorsOf(page);
  ok(
    colors.length > 0 && colors.every(({ isGrey, isShared }) => isGrey !== isShared),
    'by object: coloured if several threads wait for it, else grey',
    JSON.stringify(colors.slice(0, 4)),
  );
  ok(
    colors.some(({ isShared }) => isShared),
    'the workers share one',
  );
  await page.keyboard.press('o');
}

/** Into a gap between two pages: who was waited for, and what that one did. */
async function zoomed(page, focus) {
  await rowOf(page, 'farmer').locator('.row-link').click();
  await quiet(page);
  const [parse] = await callsOf(page, focus, 'parse_page');
  const whole = await page.evaluate(async () => (await window.weftReady).app.served.trace.duration);
  const overview = await page.locator('.plate-overview').first().boundingBox();
  const margin = Math.max(whole / 100, (parse.end - parse.start) / 4);
  const at = t => ({ x: overview.x + (overview.width * t) / whole, y: overview.y + 20 });
  await drag(page, at(Math.max(0, parse.start - margin)), at(Math.min(whole, parse.end + margin)));
  await quiet(page);
  const wide = new Map(await viewsOf(page)).get(focus);
  ok(wide < whole / 2, 'the brush of the overview zooms', `${wide} of ${whole}`);
  const [again] = await callsOf(page, focus, 'parse_page');
  const tip = await tipAt(page, focus, (again.start + again.end) / 2, again.level);
  ok(/^parse_page/.test(tip), 'meanwhile the farmer parses a page', tip);
  ok(/waiting0|waiting 0/.test(tip), 'alone: it waits for nobody in it', tip);
  await page.mouse.move(5, 5);
  await page.keyboard.press('Home');
  await quiet(page);
  const depths = await rowOf(page, 'farmer').textContent();
  ok(/depths? \d/.test(depths), 'at which depths it lets others go on', depths);
}

/** The tool-tip of the longest call of a function on a thread, zoomed in on by its time. */
async function tipOfLongest(page, threads, thread, name) {
  const during = `${threads[thread].tid}:${name}:1`;
  const { from_ns, to_ns } = ask(weft, 'interval', traceOf('workers'), '--during', during);
  await page.evaluate(
    async ([one, t0, t1]) => {
      const margin = Math.max(500, t1 - t0);
      const { screen } = (await window.weftReady).stage;
      screen.setView(one, { t0: t0 - margin, t1: t1 + margin });
    },
    [thread, from_ns, to_ns],
  );
  await quiet(page);
  const found = (await callsOf(page, thread, name)).find(({ start }) => start === from_ns);
  return found ? tipAt(page, thread, (found.start + found.end) / 2, found.level) : '';
}

/** Work that is smaller than telling of it. */
async function compressor(page, answer, threads) {
  const id = threads.findIndex(({ name }) => name === 'compressor');
  await rowOf(page, 'compressor').locator('.row-link').click();
  await quiet(page);
  ok((await badges(page))[0] === id, 'the compressor in the main view');
  const said = await patternsOn(page);
  const short = patternOf(answer, 'short_work').map(({ text }) => `short work ${text}`);
  ok(
    short.every(text => said.includes(text)),
    'the page says of what work is shorter than its notification',
    said.join(' | '),
  );
  const work = await tipOfLongest(page, threads, id, 'compress_script');
  ok(
    work.startsWith('compress_script') && /waiting ?0/.test(work),
    'its work under the pointer: it waits for nothing in it',
    work,
  );
  const tell = await tipOfLongest(page, threads, id, 'tell_farmer');
  ok(tell.startsWith('tell_farmer'), 'and telling of it', tell);
  await page.mouse.move(5, 5);
  await page.keyboard.press('Home');
}

async function workersTest(browser) {
  const { page, answer, threads, close } = await openOn(browser, 'workers');
  await hits(ok, page, 100);
  const focus = await atFirst(page, answer, threads);
  await farmerAndWorkers(page, answer, focus);
  const worker = await swapped(page, threads, focus);
  await hovered(page, threads, worker);
  await arranged(page, worker);
  await objects(page);
  await zoomed(page, focus);
  await compressor(page, answer, threads);
  await keys(page);
  await close();
}

async function fixedWorkers(browser) {
  const { page, threads, close } = await openOn(browser, 'workers-fixed');
  const said = await patternsOn(page);
  const isAbout = (text, name) => text.includes(` ${name} (`);
  const isIdle = text => text.startsWith('idle ') && isAbout(text, 'worker');
  ok(
    said.some(text => text.startsWith('farmer ')) && threads.length === 5,
    'fixed: a farmer with fewer workers',
    said.join(' | '),
  );
  // A machine that has no processor for them makes even three wait nearly all of their lives.
  const before = patternOf(ask(weft, 'interplay', traceOf('workers')), 'idle');
  ok(
    said.filter(isIdle).length < before.filter(({ thread }) => thread === 'worker').length,
    'fixed: fewer of them are superfluous, if any',
    said.join(' | '),
  );
  ok(
    said.some(text => text.startsWith('unbounded ') && isAbout(text, 'compressor')),
    'fixed: the compressor gets nothing any more, and the page says so',
    said.join(' | '),
  );
  await close();
}

/* ---- the hang monitor ---- */

async function hangMonitor(browser) {
  const { page, threads, close } = await openOn(browser, 'hang');
  const id = threads.findIndex(({ name }) => name === 'hang-monitor');
  const said = await patternsOn(page);
  ok(
    said.some(text => text.startsWith('unbounded ') && text.includes('no timeout')),
    'the hang monitor waits without a timeout',
    said.join(' | '),
  );
  await rowOf(page, 'hang-monitor').locator('.row-link').click();
  await quiet(page);
  const waits = await page.evaluate(async one => {
    const { stage } = await window.weftReady;
    const { n, start, end } = stage.screen.waitsOf(one);
    return Array.from({ length: n }, (_, i) => [start[i], end[i]]);
  }, id);
  ok(waits.length === 1, 'one wait takes all its life', JSON.stringify(waits));
  const [call] = await callsOf(page, id, 'wait_for_shutdown');
  const tip = await tipAt(page, id, (waits[0][0] + waits[0][1]) / 2, call.level + 1);
  ok(tip.includes('semaphore') && !tip.includes('timer'), 'for a semaphore, not a timer', tip);
  ok(/ended by T\d+ hang in main/.test(tip), 'which is posted when the program ends', tip);
  await close();
}

async function fixedMonitor(browser) {
  const { page, answer, threads, close } = await openOn(browser, 'hang-fixed');
  const id = threads.findIndex(({ name }) => name === 'hang-monitor');
  const said = await patternsOn(page);
  ok(
    !said.some(text => text.startsWith('unbounded ')),
    'fixed: nobody waits without a timeout',
    said.join(' | '),
  );
  await rowOf(page, 'hang-monitor').locator('.row-link').click();
  await quiet(page);
  const own = answer.waits.filter(({ waiter_tid }) => waiter_tid === threads[id].tid);
  const timed = own.filter(({ timed, failed }) => timed && failed);
  ok(timed.length > 1, 'fixed: it looks again and again', `${timed.length}`);
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  const facts = await page.textContent('.facts');
  ok(/with a timeout/.test(facts), 'fixed: keys go from wait to wait; each has a timeout', facts);
  await close();
}

/** A monitor that nobody ever wakes, and a poller whose period changes. */
async function polling(browser) {
  const { page, answer, threads, close } = await openOn(browser, 'poll');
  const said = await patternsOn(page);
  const changes = patternOf(answer, 'period_change');
  ok(
    changes.every(({ text }) => said.includes(`period change ${text}`)),
    'the page says of every change of a period what the command line says',
    said.join(' | '),
  );
  const poller = threads.findIndex(({ name }) => name.startsWith('poller'));
  await rowOf(page, 'poller').locator('.row-link').click();
  await quiet(page);
  const [poll] = await callsOf(page, poller, 'poll_every_us');
  ok(poll !== undefined, 'the poller in the main view');
  await page.keyboard.press('.');
  const facts = await page.textContent('.facts');
  ok(facts.includes('ended by a timer'), 'it waits for a timer', facts);
  await tab(page, 'Threads');
  const monitor = threads.findIndex(({ name }) => name.startsWith('monitor'));
  const row = await rowOf(page, 'monitor 0').textContent();
  ok(row.includes('not known'), 'the monitor waits for an unknown thread', row);
  const [call] = await callsOf(page, monitor, 'monitor');
  const tip = await tipAt(page, monitor, (call.start + call.end) / 2, call.level + 1);
  ok(
    tip.includes('semaphore') || tip.includes('condition') || tip.includes('had not ended'),
    'for what, and that it never went on',
    tip,
  );
  await page.keyboard.press('Escape');
  await tab(page, 'Locks and other objects');
  ok(
    (await page.textContent('table.objects')).includes('never released'),
    'its object is marked as never released',
  );
  await close();
}

/* ---- without a mouse ---- */

async function keys(page) {
  const state = () =>
    page.evaluate(async () => {
      const { focus, contexts, current, selected, split, mode, tab } = (
        await window.weftReady
      ).stage.screen.state.get();
      return { focus, contexts, current, selected, split, mode, tab };
    });
  await page.locator('#plate').focus();
  const first = await state();
  await page.keyboard.press('ArrowDown');
  ok((await state()).current === first.contexts[0], 'keys: the next thread is current');
  await page.keyboard.press('}');
  const moved = await state();
  ok(
    moved.contexts[1] === first.contexts[0] && moved.contexts[0] === first.contexts[1],
    'keys: it changes places with its neighbour',
  );
  await page.keyboard.press('{');
  await page.keyboard.press('{');
  ok((await state()).focus === first.contexts[0], 'keys: and comes to the main view');
  await page.keyboard.press('Shift+ArrowRight');
  const call = (await state()).selected;
  ok(call !== null && call.depth === 0, 'keys: a call is selected');
  await page.keyboard.press('Shift+ArrowDown');
  const below = (await state()).selected;
  ok(
    below.depth === 1 && below.start >= call.start && below.start < call.end,
    'keys: then what it called',
  );
  ok((await page.textContent('#said')).length > 0, 'keys: and that is said');
  await page.keyboard.press('Shift+ArrowUp');
  ok((await state()).selected.start === call.start, 'keys: and its caller again');
  await page.keyboard.press('Escape');
  await page.keyboard.press(')');
  ok((await state()).split > first.split, 'keys: the splitter');
  await page.keyboard.press('(');
  await page.keyboard.press('Control+Shift+P');
  await page.locator('.palette input').fill('interplay ladder');
  ok(
    (await page.locator('.palette [role=option]').first().textContent()).includes('plate, ladder'),
    'the palette has what the screen can',
  );
  await page.keyboard.press('Enter');
  await settle(page);
  ok((await state()).mode === 'ladder', 'and does it');
  const link = await fragmentOf(page);
  ok(link.includes('as=ladder'), 'as the address says', link);
  await page.keyboard.press('?');
  const help = plain(await page.textContent('.help'));
  const missing = ['{', '}', '[', ']', 'Shift+\u2192', 'PgDn', 'Del', 'F'].filter(
    key => !help.includes(key),
  );
  ok(
    missing.length === 0 && help.includes('Interplay: hide'),
    'the help lists them',
    missing.join(),
  );
  await page.keyboard.press('Escape');
  await page.keyboard.press('v');
  await page.keyboard.press('v');
  for (const name of ['Blocked by', 'Locks', 'From where', 'Selected', 'Threads']) {
    await tab(page, name);
    await settle(page);
    const wrong = await troubleOf(page);
    ok(wrong.length === 0, `${name}: names, roles, contrast`, wrong.slice(0, 3).join('; '));
  }
  const { stops, trouble } = await walkByTab(page);
  ok(stops > 20 && trouble.length === 0, 'Tab goes through all of it, and is seen', trouble.join());
}

async function main() {
  if (!weft || !folder || !findChromium()) {
    console.log(`1..0 # SKIP ${folder ? 'no Chromium' : 'usage: recorded.mjs WEFT FOLDER'}`);
    return;
  }
  const browser = await openBrowser();
  try {
    for (const part of [workersTest, fixedWorkers, hangMonitor, fixedMonitor, polling])
      await part(browser);
  } catch (error) {
    threw(error);
  } finally {
    await browser.close();
    for (const server of servers) await server.stop();
  }
  end();
}

await main();
