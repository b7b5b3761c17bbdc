// SPDX-License-Identifier: MIT
// Frame times of the served page while a script pans and zooms, or drags.
// usage: node bench/frames.mjs WEFT TRACE.weft [SECONDS [SCREEN...]]
//        node bench/frames.mjs WEFT EXECUTIONS.db [SECONDS]
//
// One step of panning or zooming a frame, for SECONDS (60) on each SCREEN (digits, 1 2 3). Of a
// database of executions the range of a group is dragged to and fro, on its large chart. Prints the
// time between frames and the time that the page itself took in each (from the step to the end of
// the painting): median, 99th percentile, maximum. The distance of frames is that of the machine,
// with its other load; the work is the page's. What does not hang on the load is the time that the
// page's main thread was on a processor, a frame: scripts, styles and layout, and all of it.
import { openBrowser } from "../ui/tests/browser/page.mjs";
import { openServed, quiet, serve } from "../ui/tests/browser/serve.mjs";

const [weft, trace, seconds = "60", ...digits] = process.argv.slice(2);
if (!weft || !trace) {
  console.error(
    "usage: node bench/frames.mjs WEFT TRACE.weft [SECONDS [SCREEN...]]",
  );
  process.exit(2);
}

function drive(page, ms) {
  return page.evaluate(async (ms) => {
    const { app, stage } = await window.weftReady;
    const whole = app.model.trace.duration;
    const [gaps, work] = [[], []];
    const started = performance.now();
    let last = 0;
    let width = whole;
    let middle = whole / 2;
    const step = (t) => {
      // in to a thousandth and out again every twelve seconds, panning all the while
      const phase = ((t - started) % 12000) / 12000;
      width = whole * 0.001 ** (1 - Math.abs(2 * phase - 1));
      middle = whole * (0.5 + 0.4 * Math.sin((t - started) / 2300));
      const t0 = Math.round(
        Math.max(0, Math.min(whole - width, middle - width / 2)),
      );
      app.state.update((now) => ({
        ...now,
        window: { t0, t1: Math.round(t0 + width) },
      }));
    };
    return new Promise((resolve) => {
      const frame = (t) => {
        if (last > 0) gaps.push(t - last);
        last = t;
        const begun = performance.now();
        step(t);
        void (stage?.idle?.() ?? Promise.resolve()).then(() =>
          work.push(performance.now() - begun),
        );
        if (t - started < ms) requestAnimationFrame(frame);
        else setTimeout(() => resolve({ gaps, work: work.slice(1) }), 300);
      };
      requestAnimationFrame(frame);
    });
  }, ms);
}

/** Drags an end of what a group of Compare takes, a step as often as the pointer tells of one. */
async function drag(page, ms) {
  const plot = page.locator(".cmp-group .cmp-plot").first();
  const box = await plot.boundingBox();
  const to = (share) =>
    page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await to(0.1);
  await page.mouse.down();
  await page.evaluate(() => {
    window.gaps_ms = [];
    let last = 0;
    const frame = (t) => {
      if (last > 0) window.gaps_ms.push(t - last);
      last = t;
      if (!window.dragEnds) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const started = performance.now();
  for (let t = 0; t < ms; t = performance.now() - started) {
    await to(0.55 + 0.4 * Math.sin(t / 300));
    await page.waitForTimeout(8);
  }
  await page.mouse.up();
  return page.evaluate(() => {
    window.dragEnds = true;
    return window.gaps_ms;
  });
}

/** Seconds of the main thread on a processor so far, by what it did. */
async function spent(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

function spentWords(before, after, n) {
  const ms = (name) => (((after[name] - before[name]) * 1000) / n).toFixed(1);
  const parts = [
    ms("ScriptDuration"),
    ms("RecalcStyleDuration"),
    ms("LayoutDuration"),
  ];
  return `${ms("TaskDuration")} ms (scripts ${parts[0]}, styles ${parts[1]}, layout ${parts[2]})`;
}

function summary(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (share) =>
    (
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ??
      0
    ).toFixed(1);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms, n ${sorted.length}`;
}

async function panAll(page, session) {
  for (const digit of digits.length > 0 ? digits : ["1", "2", "3"]) {
    await quiet(page, 600000);
    await page.locator("body").press(digit);
    await quiet(page, 600000);
    const before = await spent(session);
    const { gaps, work } = await drive(page, Number(seconds) * 1000);
    const cpu = spentWords(before, await spent(session), gaps.length + 1);
    console.log(
      `screen ${digit}: between frames ${summary(gaps)}; work ${summary(work)}`,
    );
    console.log(`  processor time of the page's main thread a frame: ${cpu}`);
  }
}

async function dragOne(page, session) {
  await page.locator(".cmp-group .cmp-plot").first().waitFor();
  await page.waitForTimeout(2000); // the first answers are painted
  const before = await spent(session);
  const gaps = await drag(page, Number(seconds) * 1000);
  const cpu = spentWords(before, await spent(session), gaps.length + 1);
  console.log(`a drag: between frames ${summary(gaps)}`);
  console.log(`  processor time of the page's main thread a frame: ${cpu}`);
}

const server = await serve(weft, [trace]);
const browser = await openBrowser();
try {
  const { page, first_ms } = await openServed(browser, server.url);
  console.log(`first picture ${first_ms} ms`);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const hasTrace = await page.evaluate(async () => {
    const { app } = await window.weftReady;
    return Boolean(app.live);
  });
  await (hasTrace ? panAll : dragOne)(page, session);
} finally {
  await browser.close();
  await server.stop();
}
