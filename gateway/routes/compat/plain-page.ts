import { clickParameters } from '../../../shared/contracts/events/click-ids.ts';
import { keyOf } from '../../../shared/json/json-writer.ts';
import type { JsonWriter } from '../../../shared/json/json-writer.ts';
import { NameTable } from '../../../shared/json/name-table.ts';

const colon = 0x3a;
const slash = 0x2f;
const question = 0x3f;
const hash = 0x23;
const ampersand = 0x26;
const at = 0x40;
const letterA = 0x41;
const letterZ = 0x5a;
const quote = 0x22;
const hostKey = keyOf('host');
const pathKey = keyOf('pathname');
const rootPath = Buffer.from(JSON.stringify('/'));
const comma = 0x2c;
const firstNonAscii = 0x80;
const campaign = Buffer.from('utm_');
const equals = 0x3d;
const clickNames = new NameTable(clickParameters.map((name) => [name, true] as const));

/**
 * Writes the properties that `completePage` derives from the address of a page. The address is the text at bytes[start,
 * end), without escapes. False if the message has to be parsed. `known`: properties that the sender gave.
 */
export function writePage(
  out: JsonWriter,
  bytes: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  known: { readonly host: boolean; readonly path: boolean },
): boolean {
  const hostStart = hostStartOf(bytes, start, end);
  if (hostStart < 0) return false;
  let hostEnd = hostStart;
  for (; hostEnd < end; hostEnd += 1) {
    const byte = bytes[hostEnd] as number;
    if (byte === slash || byte === question || byte === hash) break;
    if (byte === at || byte >= firstNonAscii || (byte >= letterA && byte <= letterZ)) return false;
  }
  if (hostEnd === hostStart) return false;
  let pathEnd = hostEnd;
  let mayHaveParameters = false;
  for (; pathEnd < end; pathEnd += 1) {
    const byte = bytes[pathEnd] as number;
    if (byte === question || byte === hash) break;
    if (byte === ampersand) mayHaveParameters = true;
  }
  mayHaveParameters ||= pathEnd < end;
  if (mayHaveParameters && mayTellOrigin(bytes, hostEnd, end)) return false;
  if (!known.host) addText(out, hostKey, hostStart, hostEnd);
  if (known.path) return true;
  if (pathEnd > hostEnd) addText(out, pathKey, hostEnd, pathEnd);
  else {
    out.add(pathKey);
    out.add(rootPath);
    out.byte(comma);
  }
  return true;
}

/** Writes a member whose value is the text at [start, end). */
function addText(out: JsonWriter, key: Uint8Array, start: number, end: number): void {
  out.add(key);
  out.byte(quote);
  out.take(start, end);
  out.byte(quote);
  out.byte(comma);
}

/** Whether an address may contain the parameter of a campaign or a click. */
export function mayTellOrigin(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i += 1) {
    if (bytes[i] === campaign[0] && standsIn(bytes, i, end, campaign)) return true;
    if (bytes[i] === equals && isClick(bytes, start, i)) return true;
  }
  return false;
}

/** Whether the parameter whose name ends at `end` is a click id. */
function isClick(bytes: Uint8Array, start: number, end: number): boolean {
  let from = end;
  while (from > start && !isBeforeName(bytes[from - 1] as number)) from -= 1;
  return clickNames.find(bytes, from, end) === true;
}

const isBeforeName = (byte: number): boolean => byte === question || byte === ampersand || byte === quote;

function standsIn(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (start + word.length > end) return false;
  for (let i = 1; i < word.length; i += 1) if (bytes[start + i] !== word[i]) return false;
  return true;
}

/** Start of the host in an absolute address whose scheme consists of letters, as in the addresses of pages; else -1. */
function hostStartOf(bytes: Uint8Array, start: number, end: number): number {
  let i = start;
  while (i < end && isLetter(bytes[i] as number)) i += 1;
  const found = i > start && i + 3 < end && bytes[i] === colon && bytes[i + 1] === slash && bytes[i + 2] === slash;
  return found ? i + 3 : -1;
}

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
