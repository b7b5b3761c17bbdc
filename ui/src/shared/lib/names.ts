// SPDX-License-Identifier: MIT
// Function names: the common prefix, what groups them, and how to shorten one.

const ELLIPSIS = '\u2026';

/** Drops the arguments of a C++ name, and a trailing "const". */
export function dropArguments(name: string): string {
  if (!name.endsWith(')') && !name.endsWith('const')) return name;
  let depth = 0;
  for (let i = name.lastIndexOf(')'); i > 0; i--) {
    if (name[i] === ')') depth++;
    else if (name[i] === '(' && --depth === 0) return name.slice(0, i);
  }
  return name;
}

/** Drops template arguments, but leaves operators such as operator< alone. */
export function dropTemplates(name: string): string {
  if (!name.includes('<') || /operator\s*[<>]/.test(name)) return name;
  let depth = 0;
  let text = '';
  for (const c of name) {
    if (c === '<') depth++;
    else if (c === '>') depth = Math.max(0, depth - 1);
    else if (depth === 0) text += c;
  }
  return text || name;
}

function dropNamespaces(name: string): string[] {
  const parts = name.split('::');
  return parts.slice(1).map((_, i) => parts.slice(i + 1).join('::'));
}

function elideMiddle(name: string, fits: (text: string) => boolean): string {
  let low = 1;
  let high = name.length - 1;
  let best = '';
  while (low <= high) {
    const keep = (low + high) >> 1;
    const head = Math.round(keep * 0.4);
    const text = name.slice(0, head) + ELLIPSIS + name.slice(name.length - (keep - head));
    if (fits(text)) {
      best = text;
      low = keep + 1;
    } else high = keep - 1;
  }
  return best.length >= 4 ? best : '';
}

/** The longest form of a name that fits; empty if none of use does. */
export function elide(name: string, fits: (text: string) => boolean): string {
  if (fits(name)) return name;
  const bare = dropArguments(name);
  if (fits(bare)) return bare;
  const plain = dropTemplates(bare);
  if (fits(plain)) return plain;
  const shorter = dropNamespaces(plain);
  for (const text of shorter) if (fits(text)) return text;
  return elideMiddle(shorter[shorter.length - 1] ?? plain, fits);
}

/** A C++ name as people say it: without its return type, its arguments and those of templates. */
export function plainName(name: string): string {
  if (!/[<(]/.test(name)) return name;
  const remark = /^(.+?)( \([\w ]+\))$/.exec(name); // "(inlined)"
  if (remark && !remark[1]!.endsWith(')')) return plainName(remark[1]!) + remark[2]!;
  const whole = name.replace(/\{lambda\([^{}]*\)(#\d+)\}(::operator\(\))?/g, '{lambda$1}');
  const plain = dropTemplates(dropArguments(whole));
  return plain.replace(/^(?:auto|[\w:*&]+) (?=[\w~{][\w:~{}#()]*$)/, '') || name;
}

/** What a name is in, with the last "::" or the name of the program before an address, and what is
 * to be read of it when there is little room. */
export function splitName(name: string): [scope: string, last: string] {
  const address = /^(.+)(\+0x[0-9a-f]+)$/.exec(name);
  if (address) return [address[1]!, address[2]!];
  const plain = plainName(name);
  const parts = plain.split('::');
  // a lambda is called like what it is in
  let from = parts.length - 1;
  while (from > 0 && /^(?:operator\(\)|\{lambda.*|\(anonymous.*)/.test(parts[from]!)) from--;
  const last = parts.slice(from).join('::');
  return [plain.slice(0, plain.length - last.length), last];
}

/** A prefix that at least 80 % of the names share and that ends at a word's end; else empty. */
export function commonPrefix(names: readonly string[]): string {
  if (names.length < 5) return '';
  const counts = new Map<string, number>();
  for (const name of names)
    for (const match of name.slice(0, 40).matchAll(/_+|::/g)) {
      const prefix = name.slice(0, match.index + match[0].length);
      if (prefix.length < name.length) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  let best = '';
  for (const [prefix, n] of counts)
    if (n >= 0.8 * names.length && prefix.length > best.length) best = prefix;
  return best;
}

export function stripPrefix(name: string, prefix: string): string {
  const hasIt = prefix !== '' && name.startsWith(prefix) && name.length > prefix.length;
  return hasIt ? name.slice(prefix.length) : name;
}

/**
 * The word that says what part of a program a function belongs to: the class or the innermost
 * namespace of a C++ name, else the first word that is not a project's short prefix (`__wt_`,
 * `sqlite3_`). It depends on the name alone, so that it is the same in every trace.
 */
export function family(name: string): string {
  const plain = dropTemplates(dropArguments(name)).replace(/^.*\s(?=[\w:~]+$)/, '');
  const scopes = plain.split('::').filter(Boolean);
  if (scopes.length > 1) return scopes[scopes.length - 2]!;
  const words = plain.split(/_+/).filter(Boolean);
  const isProject = words.length > 1 && /^(?:[a-z]{2,3}|\w*\d\w*)$/.test(words[0]!);
  if (isProject && words[0] !== 'rec' && words[0] !== 'log' && words[0] !== 'txn') words.shift();
  return words[0] ?? plain;
}

/** An address in the kernel of which no symbol is known says nothing. */
export const isNamed = (name: string): boolean => !name.startsWith('[kernel]+0x');
