// SPDX-License-Identifier: MIT
// Small parts that several panels share.
import type { ComponentChildren, JSX } from 'preact';
import { elide } from '../lib/names';
import { GREY_HUE } from '../lib/palette';
import { proseOf } from '../lib/prose';
import { useApp } from './use';
import { LOOK } from '../lib/states';
import type { CSSProperties } from 'preact';

export function hueVar(hue: number): string {
  return hue === GREY_HUE ? 'var(--grey)' : `var(--h${hue + 1})`;
}

export function Swatch({ fn }: { fn: number }): JSX.Element {
  const { families } = useApp().model;
  const hue = fn < 0 ? GREY_HUE : families.hue[fn]!;
  return <span class="swatch" style={{ background: hueVar(hue) }} aria-hidden="true" />;
}

export function Name({ fn }: { fn: number }): JSX.Element {
  const { model } = useApp();
  return <span title={model.fullName(fn)}>{model.name(fn)}</span>;
}

const KEY_WORDS: Record<string, string> = {
  ...{ ArrowLeft: '\u2190', ArrowRight: '\u2192', ArrowUp: '\u2191', ArrowDown: '\u2193' },
  ...{ PageUp: 'PgUp', PageDown: 'PgDn', Delete: 'Del', Escape: 'Esc', '-': '\u2212' },
};

/** A key, as it is written on keyboards, of what events call it ("Shift+ArrowLeft"). */
function keyWords(key: string): string {
  return key.replace(/[A-Z][a-zA-Z]+|-$/g, name => KEY_WORDS[name] ?? name);
}

export function Key({ children }: { children: ComponentChildren }): JSX.Element {
  return <kbd>{typeof children === 'string' ? keyWords(children) : children}</kbd>;
}

/** Copies text; falls back to a selection where the clipboard is not to be had (file://). */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- a page from a file has no other way
    document.execCommand('copy');
    area.remove();
  }
}

const LONGEST_NAME = 48; // letters of a name in a sentence

/** Names of a call path, long ones shortened. */
function pathWords(path: string): string {
  const fits = (text: string): boolean => text.length <= LONGEST_NAME;
  return path
    .split(' > ')
    .map(name => elide(name, fits) || name)
    .join(' \u203a ');
}

/** A sentence of the server: names between back-ticks as code, whole in their tool-tips. */
export function Sentence({ text }: { text: string }): JSX.Element {
  return (
    <>
      {proseOf(text).map((part, i) =>
        part.isCode ? (
          <code key={i} title={part.text}>
            {pathWords(part.text)}
          </code>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

export function Command({ text }: { text: string }): JSX.Element {
  return (
    <span class="command">
      <code>{text}</code>
      <button class="link" onClick={() => void copyText(text)}>
        copy
      </button>
    </span>
  );
}

export const VARS: Record<number, string> = {
  ...{ [LOOK.RUN]: '--s-run', [LOOK.READY]: '--s-ready', [LOOK.LOCK]: '--s-lock' },
  ...{ [LOOK.DISK]: '--s-disk', [LOOK.NETWORK]: '--s-net', [LOOK.TIMER]: '--s-timer' },
};

/** The colour of a state, with its hatch and letter. */
export function LookSwatch({ look, letter }: { look: number; letter: string }): JSX.Element {
  const hatch = look === LOOK.RUN ? '' : look === LOOK.READY ? ' back' : ' fore';
  return (
    <span
      class={`path-swatch${hatch}`}
      style={{ background: `var(${VARS[look] ?? '--s-wait'})` }}
      aria-hidden="true"
    >
      {letter && <b>{letter}</b>}
    </span>
  );
}

/** Where a tip stands beside the pointer; never over it. */
export function tipStyle(x: number, y: number): CSSProperties {
  const [isLeft, isUp] = [x + 300 > innerWidth, y + 220 > innerHeight];
  return {
    left: isLeft ? 'auto' : `${x + 12}px`,
    right: isLeft ? `${innerWidth - x + 12}px` : 'auto',
    top: isUp ? 'auto' : `${y + 14}px`,
    bottom: isUp ? `${innerHeight - y + 14}px` : 'auto',
  };
}
