// SPDX-License-Identifier: MIT
// Can a page be used without a mouse, and read by everybody? What stands in it now is looked at:
// names, roles and what they need around them, contrast, and where Tab goes.

/** Runs in the page: what is wrong, a sentence each. */
function lookAround() {
  const NEEDS = {
    option: 'listbox',
    tab: 'tablist',
    row: 'table grid treegrid rowgroup',
    rowheader: 'row',
    gridcell: 'row',
    cell: 'row',
    listitem: 'list',
    treeitem: 'tree group',
    menuitem: 'menu menubar',
  };
  const KNOWN = new Set(
    `${Object.keys(NEEDS).join(' ')} alert alertdialog application banner button checkbox columnheader
    combobox complementary dialog figure form grid group heading img link list listbox log main menu
    menubar navigation none note presentation progressbar radio radiogroup region rowgroup search
    separator slider spinbutton status switch table tablist tabpanel textbox toolbar tooltip tree
    treegrid`.split(/\s+/),
  );
  const wrong = [];
  const short = element => {
    const { id, className, tagName } = element;
    const own = id ? `#${id}` : typeof className === 'string' && className ? `.${className}` : '';
    return `<${tagName.toLowerCase()}${own}> "${(element.textContent ?? '').trim().slice(0, 30)}"`;
  };
  const isHidden = element =>
    element.closest('[aria-hidden=true]') !== null ||
    !element.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll('body *')].filter(element => !isHidden(element));
  const byId = id => document.getElementById(id);

  const nameOf = element => {
    const refs = element.getAttribute('aria-labelledby');
    if (refs)
      return refs
        .split(/\s+/)
        .map(id => byId(id)?.textContent ?? '')
        .join(' ');
    const said = element.getAttribute('aria-label') ?? '';
    const labels = [...(element.labels ?? [])].map(label => label.textContent).join(' ');
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName);
    return said || labels || (isField ? '' : element.textContent) || element.title || '';
  };
  const names = () => {
    const controls =
      'a[href], button, input, select, textarea, summary, [tabindex="0"], [role=button], [role=tab], ' +
      '[role=option], [role=menuitem], [role=img], [role=region], [role=listbox], [role=dialog], img';
    for (const element of all)
      if (element.matches(controls) && nameOf(element).trim() === '')
        wrong.push(`no name: ${short(element)}`);
    for (const element of all) {
      const isDrawing = element.matches('canvas, svg');
      if (isDrawing && element.getAttribute('role') !== 'img')
        wrong.push(`a drawing that is neither hidden nor named: ${short(element.parentElement)}`);
    }
  };
  const roles = () => {
    for (const element of all) {
      const role = element.getAttribute('role');
      if (role !== null && !KNOWN.has(role)) wrong.push(`no such role: ${role} ${short(element)}`);
      const needs = NEEDS[role];
      const around = needs?.split(' ').map(one => `[role=${one}]`);
      const native = { row: 'table', listitem: 'ul, ol' }[role];
      if (around && !element.parentElement.closest([...around, native].filter(Boolean).join()))
        wrong.push(`${role} outside ${needs}: ${short(element)}`);
      for (const key of ['aria-labelledby', 'aria-controls', 'aria-activedescendant'])
        for (const id of (element.getAttribute(key) ?? '').split(/\s+/).filter(Boolean))
          if (!byId(id)) wrong.push(`${key} names ${id}, which is not there: ${short(element)}`);
      if (element.tabIndex > 0) wrong.push(`tabindex above 0: ${short(element)}`);
    }
    const ids = all.map(({ id }) => id).filter(Boolean);
    const twice = ids.filter((id, i) => ids.indexOf(id) < i);
    for (const id of new Set(twice)) wrong.push(`two elements have the id ${id}`);
    if (all.filter(element => element.matches('main, [role=main]')).length !== 1)
      wrong.push('there is not one main part');
    if (!document.documentElement.lang || !document.title) wrong.push('no language or no title');
  };

  const parse = text => {
    const [r, g, b, a = 1] = (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const whole = text.startsWith('color(srgb') ? 255 : 1; // a mix counts to 1
    return { rgb: [r * whole, g * whole, b * whole], a };
  };
  const over = (top, below) => top.rgb.map((c, i) => c * top.a + below[i] * (1 - top.a));
  const light = rgb => {
    const [r, g, b] = rgb.map(c => {
      const share = c / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = element => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const layer = parse(getComputedStyle(one).backgroundColor);
      if (layer.a > 0) layers.push(layer);
      if (layer.a === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const fade = element => {
    let share = 1;
    for (let one = element; one; one = one.parentElement)
      share *= Number(getComputedStyle(one).opacity);
    return share;
  };
  const contrasts = () => {
    const seen = new Set();
    for (const element of all) {
      const isText = [...element.childNodes].some(
        node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '',
      );
      if (!isText || element.closest(':disabled, .sr, option')) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      const faded = fade(element);
      if (faded === 0) continue; // shown when it is pointed at or has the focus
      const isDrawn = element instanceof SVGElement;
      const ink = parse(isDrawn ? style.fill : style.color);
      const shown = over({ rgb: ink.rgb, a: ink.a * faded }, ground);
      const [a, b] = [light(shown), light(ground)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const size = parseFloat(style.fontSize);
      const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
      const key = `${style.color} ${ground}`;
      if (ratio >= least - 0.005 || seen.has(key)) continue;
      seen.add(key);
      wrong.push(`contrast ${ratio.toFixed(2)}: ${short(element)}`);
    }
  };
  names();
  roles();
  contrasts();
  return wrong;
}

/** Runs in the page: what has the focus, and whether that is seen. */
function focusNow() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  window.weftStops ??= new Map();
  const stops = window.weftStops;
  if (!stops.has(element)) stops.set(element, stops.size);
  const hasRing = one => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
  };
  const box = element.getBoundingClientRect();
  const opacity = Number(getComputedStyle(element).opacity);
  return {
    stop: stops.get(element),
    isSeen: opacity > 0.9 && (hasRing(element) || hasRing(element.parentElement)),
    isThere: box.width > 0 && box.height > 0,
    words: `<${element.tagName.toLowerCase()}> ${element.id || element.textContent.slice(0, 30)}`,
  };
}

/** Names, roles and contrast of what the page shows. */
export const troubleOf = page => page.evaluate(lookAround);

const MOST_STOPS = 600;

/** Tab goes through the page and out of it again, and where it is can be seen. */
export async function walkByTab(page) {
  await page.evaluate(() => {
    window.weftStops = new Map();
    document.body.tabIndex = -1; // Tab begins at the top
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  const trouble = [];
  const order = [];
  for (let i = 0; i < MOST_STOPS; i++) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(focusNow);
    if (now === null || (order.length > 0 && now.stop === order[0]))
      return { stops: order.length, trouble };
    if (order.includes(now.stop)) {
      trouble.push(`a trap at ${now.words}`);
      return { stops: order.length, trouble };
    }
    order.push(now.stop);
    if (!now.isSeen) trouble.push(`focus is not seen: ${now.words}`);
    if (!now.isThere) trouble.push(`focus on nothing: ${now.words}`);
  }
  return { stops: order.length, trouble: [...trouble, 'Tab does not come to an end'] };
}
