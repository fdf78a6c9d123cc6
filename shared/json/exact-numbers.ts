import { randomBytes } from 'node:crypto';

/**
 * JSON whose numbers are written exactly as they were read. JavaScript reads `23851234567890123` as …124 and writes
 * `1.0` as `1`, `-0` as `0` and `1e400` as `null`. `parseExact` keeps the text of such a number beside the object that
 * contains it, and `stringifyExact` writes that text. Code that copies a member must copy the text too, with
 * `copyMember` or `mergeMembers`; after any other copy the number is written as JavaScript has it.
 */

type Members = Record<string, unknown>;

/**
 * Texts of numbers, by the object or array that contains them, then by the name of the member. An object or array that
 * has such numbers only at deeper levels has an empty entry.
 */
const textsOf = new WeakMap<object, Map<string, string>>();

/** Matches nearly every number that a double does not reproduce as written, and some others. */
const mayBeInexact = /([:,[]\s*)-?(?:\d{16}|[\d.]{17}|0\.0{6}|\d+\.\d*0\s*[,}\]]|\d[\d.]*[eE]|(?<=-)0\s*[,}\]])/g;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/**
 * Prefix of the string that stands for a number while a document is parsed or written. It is random, so that no client
 * can send it.
 */
const mark = `\u{F8FF}${randomBytes(12).toString('hex')} `;
const marked = new RegExp(`"${mark}([^"]*)"`, 'g');

/** Whether a text may contain a number that a double does not reproduce as written; most texts contain none. */
export function mayHoldExact(text: string): boolean {
  mayBeInexact.lastIndex = 0;
  for (let found = mayBeInexact.exec(text); found !== null; found = mayBeInexact.exec(text)) {
    const start = found.index + (found[1] ?? '').length;
    numberToken.lastIndex = start;
    const token = numberToken.exec(text)?.[0];
    if (token === undefined || String(Number(token)) !== token) return true;
    mayBeInexact.lastIndex = start + token.length;
  }
  return false;
}

/**
 * The result of JSON.parse, with the texts of numbers that a double does not reproduce as written. Throws SyntaxError
 * as JSON.parse does.
 */
export function parseExact(text: string): unknown {
  if (!mayHoldExact(text)) return JSON.parse(text);
  const withMarks = markNumbers(text);
  return withMarks === undefined ? JSON.parse(text) : JSON.parse(withMarks, readMarks);
}

/** Whether a value contains a number whose text was kept. */
export const holdsExact = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && textsOf.has(value);

/** The result of JSON.stringify, with the kept texts of numbers if one of `sources` contains any. */
export function stringifyExact(value: unknown, ...sources: readonly unknown[]): string {
  if (!sources.some(holdsExact)) return JSON.stringify(value);
  return JSON.stringify(value, writeMarks).replaceAll(marked, '$1');
}

/** The kept text of a number; undefined for any other member. */
export const numberText = (holder: object, name: string): string | undefined => textsOf.get(holder)?.get(name);

/** Sets a member to the number that `text` spells, and keeps the text. */
export function setNumber(to: Members, name: string, text: string): void {
  to[name] = Number(text);
  keep(to, name, text);
}

/** Copies a member of another object, with the kept texts of its numbers. */
export function copyMember(to: Members, toName: string, from: Readonly<Members>, fromName = toName): void {
  const value = from[fromName];
  to[toName] = value;
  const text = numberText(from, fromName);
  if (text !== undefined) keep(to, toName, text);
  else if (holdsExact(value)) mapOf(to);
}

/**
 * The members of several objects as one object, with their number texts; if a name is repeated, the last member counts.
 */
export function mergeMembers(...objects: readonly (Readonly<Members> | undefined)[]): Members {
  if (!objects.some(holdsExact)) return Object.assign({}, ...objects) as Members;
  const merged: Members = {};
  for (const object of objects) {
    if (object === undefined) continue;
    for (const name of Object.keys(object)) {
      textsOf.get(merged)?.delete(name);
      copyMember(merged, name, object);
    }
  }
  return merged;
}

function mapOf(holder: object): Map<string, string> {
  let texts = textsOf.get(holder);
  if (texts === undefined) textsOf.set(holder, (texts = new Map()));
  return texts;
}

function keep(holder: object, name: string, text: string): void {
  mapOf(holder).set(name, text);
}

/**
 * The text with a marked string in place of each number that a double does not reproduce as written. Undefined if there
 * is no such number, or if the text is not JSON.
 */
function markNumbers(text: string): string | undefined {
  let made = '';
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      at = closingQuote(text, at);
    } else if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) {
      numberToken.lastIndex = at;
      const token = numberToken.exec(text)?.[0];
      if (token === undefined) return undefined;
      if (String(Number(token)) !== token) {
        made += `${text.slice(copied, at)}"${mark}${token}"`;
        copied = at + token.length;
      }
      at += token.length - 1;
    }
  }
  return copied === 0 ? undefined : made + text.slice(copied);
}

function closingQuote(text: string, openingQuote: number): number {
  let at = openingQuote + 1;
  for (; at < text.length && text.charCodeAt(at) !== 0x22; at += 1) if (text.charCodeAt(at) === 0x5c) at += 1;
  return at;
}

/** A reviver for JSON.parse, which calls it for the members of an object before the object itself. */
function readMarks(this: object, name: string, value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) {
    const text = value.slice(mark.length);
    keep(this, name, text);
    return Number(text);
  }
  if (holdsExact(value)) mapOf(this);
  return value;
}

/** A replacer for JSON.stringify. A text applies only while the member still has the value that was read. */
function writeMarks(this: object, name: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const text = numberText(this, name);
  return text !== undefined && Object.is(Number(text), value) ? mark + text : value;
}
