import type { MemberIndex } from '../../../shared/json/member-index.ts';
import { readTime } from './message-time.ts';

const quote = 0x22;
const firstOfNull = 0x6e;
const zero = 0x30;
/** `2026-11-22T12:00:00.000Z`, as nearly all libraries write times. */
const usual = Buffer.from('dddd-dd-ddTdd:dd:dd.dddZ');
const digit = 0x64;

/** The time in a member's value, as `readTime` reads it. */
export function readTimeAt(bytes: Buffer, index: MemberIndex, member: number): number | undefined {
  const start = index.valueStart(member);
  const end = index.valueEnd(member);
  const first = bytes[start] ?? 0;
  if (first !== quote) return first < 0x3a ? readTime(Number(bytes.toString('latin1', start, end))) : undefined;
  return usualTime(bytes, start + 1, end - 1) ?? readTime(JSON.parse(bytes.toString('utf8', start, end)));
}

export const isNullAt = (bytes: Uint8Array, index: MemberIndex, member: number): boolean =>
  bytes[index.valueStart(member)] === firstOfNull;

/** The last minute that was read, cached: times of one request mostly share it. */
const minute = { text: new Uint8Array(17), ms: Number.NaN };

/**
 * A time in the usual form, in ms since the epoch; undefined for other forms, and for the days 29 to 31, which some
 * months lack.
 */
function usualTime(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start !== usual.length || !isUsual(bytes, start, minute.text.length, usual.length)) return undefined;
  if (!isLastMinute(bytes, start)) {
    if (!isUsual(bytes, start, 0, minute.text.length)) return undefined;
    const ms = minuteMs(bytes, start);
    if (ms === undefined) return undefined;
    minute.ms = ms;
    minute.text.set(bytes.subarray(start, start + minute.text.length));
  }
  const seconds = twoDigits(bytes, start + 17);
  if (seconds > 59) return undefined;
  const ms = ((bytes[start + 20] as number) - zero) * 100 + twoDigits(bytes, start + 21);
  return minute.ms + seconds * 1_000 + ms;
}

function isUsual(bytes: Uint8Array, start: number, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const byte = bytes[start + i] as number;
    const isRight = usual[i] === digit ? byte >= zero && byte <= 0x39 : byte === usual[i];
    if (!isRight) return false;
  }
  return true;
}

function isLastMinute(bytes: Uint8Array, start: number): boolean {
  if (Number.isNaN(minute.ms)) return false;
  const { text } = minute;
  // Compares from the end, where times differ most.
  for (let i = text.length - 1; i >= 0; i -= 1) if (bytes[start + i] !== text[i]) return false;
  return true;
}

function minuteMs(bytes: Uint8Array, start: number): number | undefined {
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  const hours = twoDigits(bytes, start + 11);
  const minutes = twoDigits(bytes, start + 14);
  if (month < 1 || month > 12 || day < 1 || day > 28 || hours > 23 || minutes > 59) return undefined;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  // Date.UTC reads years of two digits as years of the last century.
  return year < 100 ? undefined : Date.UTC(year, month - 1, day, hours, minutes);
}

const twoDigits = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) * 10 + (bytes[at + 1] as number) - zero * 11;
