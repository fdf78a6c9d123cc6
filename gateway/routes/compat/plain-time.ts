import type { MemberIndex } from '../../json/member-index.ts';
import { readTime } from './message-time.ts';

const quote = 0x22;
const firstOfNull = 0x6e;
const zero = 0x30;
/** `2026-11-22T12:00:00.000Z`, as nearly all libraries write times. */
const usual = Buffer.from('dddd-dd-ddTdd:dd:dd.dddZ');
const digit = 0x64;

/** The time that a member's value says, as `readTime` reads it. */
export function readTimeAt(bytes: Buffer, index: MemberIndex, member: number): number | undefined {
  const start = index.valueStart(member);
  const end = index.valueEnd(member);
  const first = bytes[start] ?? 0;
  if (first !== quote) return first < 0x3a ? readTime(Number(bytes.toString('latin1', start, end))) : undefined;
  return usualTime(bytes, start + 1, end - 1) ?? readTime(JSON.parse(bytes.toString('utf8', start, end)));
}

export const isNullAt = (bytes: Uint8Array, index: MemberIndex, member: number): boolean =>
  bytes[index.valueStart(member)] === firstOfNull;

/** A time in the usual form; undefined for every other, and on the last days of a month, which not all months have. */
function usualTime(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start !== usual.length) return undefined;
  for (let i = 0; i < usual.length; i += 1) {
    const byte = bytes[start + i] as number;
    const isRight = usual[i] === digit ? byte >= zero && byte <= 0x39 : byte === usual[i];
    if (!isRight) return undefined;
  }
  const two = (at: number): number =>
    (bytes[start + at] as number) * 10 + (bytes[start + at + 1] as number) - zero * 11;
  const month = two(5);
  const day = two(8);
  const hours = two(11);
  const minutes = two(14);
  const seconds = two(17);
  if (month < 1 || month > 12 || day < 1 || day > 28 || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const year = two(0) * 100 + two(2);
  // Date.UTC reads years of two digits as those of the last century.
  if (year < 100) return undefined;
  const ms = ((bytes[start + 20] as number) - zero) * 100 + two(21);
  return Date.UTC(year, month - 1, day, hours, minutes, seconds, ms);
}
