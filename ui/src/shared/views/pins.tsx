// SPDX-License-Identifier: MIT
// Pinned cards, over the chart: facts that stay in view, and the way back to their place.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { writePin } from '../lib/pins';
import type { Pin } from '../lib/pins';
import { cardOf, goToPin, unpin } from '../state/pins';
import { currentScreen } from '../state/screens';
import { useApp, usePart } from './use';

const FACTS = 4;

function PinCard({ pin, close }: { pin: Pin; close: () => void }): JSX.Element {
  const app = useApp();
  const card = cardOf(app, pin);
  const go = (): void => {
    goToPin(app, pin);
    setTimeout(() => document.getElementById('chart')?.focus(), 30); // drawn by then
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' && event.key !== 'Delete') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return (
    <li class="pin-card" onKeyDown={keys}>
      <div class="line">
        {card && <card.Mark />}
        <button
          class="row-link"
          disabled={!card}
          title="Back to where it was pinned"
          aria-label={card ? `Go to: ${card.sentence}` : 'Not in this part of the trace'}
          onClick={go}
        >
          <b>{card?.title ?? 'not in this part of the trace'}</b>
        </button>
        <b>{card?.time}</b>
        <button
          class="plain"
          aria-label={`Close the card of ${card?.title ?? 'it'}`}
          onClick={close}
        >
          ×
        </button>
      </div>
      {card && (
        <>
          <p class="remark">{card.remark}</p>
          <table>
            <tbody>
              {card
                .facts()
                .slice(0, FACTS)
                .map(({ name, value, more }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td class="num" title={more}>
                      {value}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </>
      )}
    </li>
  );
}

export function Pins(): JSX.Element | null {
  const app = useApp();
  const pins = usePart(s => s.pins);
  usePart(s => s.screen);
  usePart(s => s.epoch);
  usePart(s => s.colors);
  const list = useRef<HTMLUListElement>(null);
  if (pins.length === 0) return null;
  const close = (i: number): void => {
    unpin(app, pins[i]!);
    setTimeout(() => {
      const next = list.current?.querySelectorAll<HTMLElement>('.row-link')[i];
      (next ?? list.current?.querySelector<HTMLElement>('.row-link') ?? null)?.focus();
      if (!list.current) document.getElementById('chart')?.focus();
    });
  };
  return (
    <ul
      class={currentScreen(app).cards ? 'pins over-chart' : 'pins'}
      ref={list}
      id="pins"
      aria-label="Pinned cards"
    >
      {pins.map((pin, i) => (
        <PinCard key={writePin(pin)} pin={pin} close={() => close(i)} />
      ))}
    </ul>
  );
}
