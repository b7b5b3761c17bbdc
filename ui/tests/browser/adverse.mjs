// SPDX-License-Identifier: MIT
// Adverse orders, for any test of this folder: with WEFT_ADVERSE=SEED frames and timers of the page
// are late, and questions and answers of the server are, each by a time that the seed decides; on one
// page the server is slow, on another the page, on a third both are now and then. A loaded machine
// does the same, but seldom, and never twice. What a page may count on is kept: callbacks of a frame
// run in their order, and of two timers the one that is due first.

/** ms: the most that each is late. */
const LATE = { frame: 80, timer: 60, question: 80, answer: 200 };

/** Runs in the page, before all else, and behind what watches it (page.mjs). */
function disturb([seed, late]) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const someOf = list => list[Math.floor(random() * list.length)];
  /** How many of all are late, on this page. */
  const share = { page: someOf([0, 0.3, 1]), server: someOf([0, 0.3, 1]) };
  const lateness = (most, of) => (random() < of ? random() * most : 0);
  const own = {
    timer: window.setTimeout.bind(window),
    noTimer: window.clearTimeout.bind(window),
    frame: window.requestAnimationFrame.bind(window),
    fetch: window.fetch.bind(window),
  };

  const timers = new Map();
  window.setTimeout = (run, ms = 0, ...rest) => {
    if (ms >= 1000) return own.timer(run, ms, ...rest); // nothing is in a hurry then
    const due = performance.now() + Math.max(0, ms);
    let [low, high] = [due, Infinity];
    for (const other of timers.values())
      if (other.due <= due) low = Math.max(low, other.at);
      else high = Math.min(high, other.at);
    const at = Math.min(Math.max(due + lateness(late.timer, share.page), low), high);
    const id = own.timer(
      () => {
        timers.delete(id);
        run(...rest);
      },
      Math.min(999, at - performance.now()), // still what a page that rests has not
    );
    timers.set(id, { due, at });
    return id;
  };
  window.clearTimeout = id => {
    timers.delete(id);
    own.noTimer(id);
  };

  let last = 0;
  let [asked, running] = [new Map(), new Map()];
  const frame = time => {
    [asked, running] = [new Map(), asked];
    for (const [id, run] of running) {
      if (!running.delete(id)) continue;
      try {
        run(time);
      } catch (error) {
        window.reportError(error);
      }
    }
  };
  window.requestAnimationFrame = run => {
    if (asked.size === 0) {
      const ms = lateness(late.frame, share.page);
      if (ms > 0) own.timer(() => own.frame(frame), ms);
      else own.frame(frame);
    }
    asked.set(++last, run);
    return last;
  };
  window.cancelAnimationFrame = id => {
    running.delete(id);
    if (asked.has(id)) asked.set(id, () => undefined); // its frame comes all the same
  };

  const wait = (ms, signal) =>
    new Promise((resolve, reject) => {
      const giveUp = () => reject(signal.reason);
      if (signal?.aborted) return giveUp();
      signal?.addEventListener('abort', giveUp);
      own.timer(() => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      }, ms);
    });
  window.fetch = async (url, options) => {
    const ms = [late.question, late.answer].map(most => lateness(most, share.server));
    if (ms[0] > 0) await wait(ms[0], options?.signal);
    const answer = await own.fetch(url, options);
    if (ms[1] > 0) await wait(ms[1], options?.signal);
    return answer;
  };
}

let contexts = 0;

/** Makes the orders of a context's pages adverse, if WEFT_ADVERSE says so. */
export async function adverse(context) {
  const { WEFT_ADVERSE: seed } = process.env;
  if (!seed) return;
  if (contexts++ === 0) console.log(`# adverse orders, seed ${seed}`);
  await context.addInitScript(disturb, [Number(seed) * 1000 + contexts, LATE]);
}
