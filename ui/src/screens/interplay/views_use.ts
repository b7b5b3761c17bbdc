// SPDX-License-Identifier: MIT
// How parts of the Interplay ask the server for what they show.
import { useEffect, useState } from 'preact/hooks';
import { Superseded } from '../../shared/api/source';
import type { Source } from '../../shared/api/source';

export interface Asked<T> {
  value: T | null;
  trouble: string;
}

/** The answer to a question that `key` names; '' asks nothing. The answer before stays until then. */
export function useAsked<T>(source: Source, key: string, ask: () => Promise<T>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ value: null, trouble: '' });
  useEffect(() => {
    if (key === '') return setAsked({ value: null, trouble: '' });
    let isWanted = true;
    ask()
      .then(value => isWanted && setAsked({ value, trouble: '' }))
      .catch((error: unknown) => {
        if (!isWanted || error instanceof Superseded) return;
        setAsked({ value: null, trouble: error instanceof Error ? error.message : String(error) });
      });
    return () => {
      isWanted = false;
    };
  }, [source, key]);
  return asked;
}
