// SPDX-License-Identifier: MIT
// How long the Interplay takes for a picture. usage: node interplayframes.mjs WEFT TRACE.weft
//
// Per frame: all that the page's thread does for it, and the pixels (they are read back). All threads
// are drawn anew ("all"), each is panned and zoomed, the split is dragged, context threads change their
// places, a range is dragged; hovering goes over all of the picture, also of a part in which most
// curves are. What is asserted is work, not time: a thread draws no more calls than it has pixels, and
// the pointer draws none.
import { openBrowser, PATIENCE_MS, settle } from './page.mjs';
import { startBefore, startBinary } from './timelineserver.mjs';

const [weft, trace] = process.argv.slice(2);
if (!weft || !trace) {
  console.error('usage: node interplayframes.mjs WEFT TRACE.weft');
  process.exit(2);
}

/** Runs in the page: frames of one kind, in ms. */
async function measure([mode, kind]) {
  const { stage, app } = await window.weftReady;
  const { screen, canvases } = stage;
  screen.set({ mode });
  await stage.idle();
  const times = [];
  let drawn = 0;
  let curves = 0;
  const flush = () => {
    for (const canvas of Object.values(canvases)) canvas.getContext('2d').getImageData(0, 0, 1, 1);
  };
  const frame = act => {
    flush();
    const started = performance.now();
    act();
    window.cancelAnimationFrame(stage.frame);
    stage.paint();
    flush();
    times.push(performance.now() - started);
    drawn = Math.max(drawn, stage.drawnCalls);
    curves = Math.max(curves, stage.curves().length);
  };
  const each = async act => {
    for (const { thread } of stage.frames()) {
      const whole = { ...screen.view(thread) };
      for (let i = 0; i < 10; i++) {
        frame(() => act(thread, whole, i));
        if (i % 3 === 2) await stage.idle();
      }
      screen.setView(thread, whole);
      await stage.idle();
    }
  };
  const box = document.querySelector('.plate').getBoundingClientRect();
  const { focus, contexts } = screen.state.get();
  const before = { ...screen.view(focus) };
  const length = before.t1 - before.t0;
  if (kind === 'all') for (let i = 0; i < 20; i++) frame(() => stage.retheme());
  if (kind === 'split')
    for (let i = 0; i < 20; i++) frame(() => screen.set({ split: 0.3 + (i % 10) / 50 }));
  if (kind === 'exchange')
    for (let i = 0; i < 20; i++)
      frame(() => screen.swap(contexts[i % contexts.length], contexts[(i + 3) % contexts.length]));
  if (kind === 'brush')
    for (let i = 0; i < 20; i++) {
      const range = { t0: before.t0 + length / 10, t1: before.t0 + length * (0.2 + i / 40) };
      frame(() => app.state.update(now => ({ ...now, range, isPreview: true })));
    }
  if (kind === 'curves') {
    screen.align(); // so near that waits of the main view, or of the ladder, are curves of their own
    screen.setView(focus, {
      t0: length * 0.4,
      t1: length * (0.4 + (mode === 'ladder' ? 0.06 : 0.004)),
    });
    await stage.idle();
    for (let i = 0; i < 20; i++) frame(() => screen.pan(focus, 0.01));
  }
  if (kind === 'zoom')
    await each((thread, { t0, t1 }) => screen.zoom(thread, 0.4, t0 + (t1 - t0) * 0.4));
  if (kind === 'pan')
    await each((thread, { t0, t1 }, i) => {
      if (i === 0) screen.zoom(thread, 0.2, t0 + (t1 - t0) * 0.2);
      else screen.pan(thread, 0.05);
    });
  if (kind === 'hover')
    for (let i = 0; i < 240; i++) {
      const [x, y] = [(box.width * ((i * 37) % 240)) / 240, (box.height * i) / 240];
      frame(() => screen.set({ hover: stage.hit(x, y) }));
    }
  app.state.update(now => ({ ...now, range: null, isPreview: false }));
  screen.setView(focus, before);
  screen.set({ hover: null, split: 0.36, contexts });
  await stage.idle();
  const pixels = canvases.base.width * canvases.base.height;
  const levels = stage.frames().reduce((sum, { shown }) => sum + shown, 0);
  return { times, curves, drawn, threads: stage.frames().length, most: pixels + levels };
}

const told = list => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = share => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return `median ${at(0.5).toFixed(1)}, 95 % ${at(0.95).toFixed(1)}, most ${at(1).toFixed(1)} ms`;
};

/** Processor time of the page so far, in ms: a busy machine does not change it. */
async function cpu_ms(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return (
    processInfo.reduce((sum, { type, cpuTime }) => sum + (type === 'renderer' ? cpuTime : 0), 0) *
    1000
  );
}

const program = await startBinary(weft, trace);
const server = await startBefore(program.address); // the page as it was built last
const browser = await openBrowser();
try {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const session = await browser.newBrowserCDPSession();
  await page.addInitScript(() => (window.weftAtRest = () => true));
  const started = Date.now();
  await page.goto(`${server.address}#v=1&s=4`);
  const isThere = async () => {
    const { stage } = await window.weftReady;
    const frames = stage?.frames?.() ?? [];
    return frames.length > 1 && frames.every(({ thread }) => stage.screen.loader.of(thread));
  };
  while (!(await page.evaluate(isThere))) await new Promise(resolve => setTimeout(resolve, 50));
  console.log(`first picture after ${Date.now() - started} ms`);
  await settle(page);
  for (const mode of ['plate', 'ladder'])
    for (const kind of ['all', 'zoom', 'pan', 'split', 'exchange', 'brush', 'curves', 'hover']) {
      const before = await cpu_ms(session);
      const { times, curves, drawn, threads, most } = await page.evaluate(measure, [mode, kind]);
      const mean = ((await cpu_ms(session)) - before) / times.length;
      console.log(
        `${mode}, ${threads} threads, ${kind}: at most ${drawn} calls and ${curves} curves drawn; ${told(times)}; processor ${mean.toFixed(1)} ms a frame`,
      );
      if (drawn > most) throw new Error(`${kind} drew ${drawn} calls on ${most} pixels and levels`);
      if (drawn > 0 && (kind === 'hover' || kind === 'brush'))
        throw new Error(`${kind} drew calls again`);
    }
} finally {
  await browser.close();
  server.close();
  program.close();
}
process.exit();
