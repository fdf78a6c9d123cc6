import { keyOf } from '../../../shared/json/json-writer.ts';
import type { JsonWriter } from '../../../shared/json/json-writer.ts';
import { NameTable } from '../../../shared/json/name-table.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { isPlaceholderAt } from '../../../shared/contracts/events/placeholder-identifier.ts';
import { messageTimeOf } from './message-time.ts';
import type { PlainMessage } from './plain-batch.ts';
import { isNullAt, readTimeAt } from './plain-time.ts';
import type { PlainSource } from './translation.ts';

/** Maximum size of the event of a message: ids and addresses are written twice, and names in the context get longer. */
export const writtenBytesMax = (messageBytes: number, headBytes: number): number =>
  headBytes + messageBytes * 4 + 1_024;

export const none = -1;
const quote = 0x22;
const comma = 0x2c;
const openBrace = 0x7b;

/**
 * Remembers the message for which a result was computed. The result may also be valid for the next message, whose
 * members have other indexes.
 */
export class LastMessage {
  #resets = none;
  #first = none;

  /**
   * The offset to add to the member indexes if this message has the same members as the last one; else undefined. In
   * both cases the result counts as outdated until `is` is called.
   */
  shiftTo({ index }: PlainSource, { first, alike }: PlainMessage): number | undefined {
    const isLike = alike !== none && alike === this.#first && index.resets === this.#resets;
    this.#first = none;
    return isLike ? first - alike : undefined;
  }

  /** Call when the result was computed for this message. */
  is({ index }: PlainSource, { first }: PlainMessage): void {
    this.#resets = index.resets;
    this.#first = first;
  }
}

/** Finds members of messages by name; each name has a place in the result. One message is written at a time. */
export class MessageMembers {
  readonly #places: NameTable<number>;
  readonly #found: Int32Array;
  readonly #last = new LastMessage();

  constructor(places: Readonly<Record<string, number>>) {
    this.#places = new NameTable(Object.entries(places));
    this.#found = new Int32Array(Object.keys(places).length);
  }

  /**
   * The indexes of a message's members, by place; `none` for a missing member. Undefined if a name is duplicated, since
   * JSON parsers keep the last duplicate. Members with other names are ignored.
   */
  find(source: PlainSource, message: PlainMessage): Int32Array | undefined {
    const { bytes, index } = source;
    const found = this.#found;
    const shift = this.#last.shiftTo(source, message);
    if (shift !== undefined) {
      for (let place = 0; place < found.length; place += 1) {
        if (found[place] !== none) found[place] = (found[place] as number) + shift;
      }
    } else {
      found.fill(none);
      for (let member = message.first; member < message.last; member = index.next(member)) {
        const place = this.#places.find(bytes, index.keyStart(member), index.keyEnd(member));
        if (place === undefined) continue;
        if (found[place] !== none) return undefined;
        found[place] = member;
      }
    }
    this.#last.is(source, message);
    return found;
  }
}

/** Whether a member is there and not null. */
export const isGiven = ({ bytes, index }: PlainSource, member: number): boolean =>
  member !== none && !isNullAt(bytes, index, member);

export const isObjectAt = ({ bytes, index }: PlainSource, member: number): boolean =>
  member !== none && bytes[index.valueStart(member)] === openBrace;

/**
 * Whether a member is a text that is not empty, has no escapes, and has at most `bytesMax` bytes and so at most as many
 * characters.
 */
export function isPlainText({ bytes, index }: PlainSource, member: number, bytesMax: number): boolean {
  const length = index.valueEnd(member) - index.valueStart(member) - 2;
  return bytes[index.valueStart(member)] === quote && !index.isEscaped(member) && length > 0 && length <= bytesMax;
}

/** Whether a member is an identifier that can be copied unchanged, or is not given. */
export const isPlainId = (source: PlainSource, member: number): boolean =>
  !isGiven(source, member) || isIdentifier(source, member);

/** Whether a member is an identifier that can be copied unchanged. */
export const isIdentifier = (source: PlainSource, member: number): boolean =>
  isPlainText(source, member, textCharactersMax.userId) &&
  !isPlaceholderAt(source.bytes, source.index.valueStart(member) + 1, source.index.valueEnd(member) - 1);

/** Writes `key`, then a member's value and a comma. */
export function addValue({ index }: PlainSource, member: number, key: Uint8Array, out: JsonWriter): void {
  out.member(key, index.valueStart(member), index.valueEnd(member));
}

/** Copies a member unchanged, and writes a comma. */
export function addMember({ index }: PlainSource, member: number, out: JsonWriter): void {
  out.take(index.keyStart(member) - 1, index.valueEnd(member));
  out.byte(comma);
}

const timeKey = keyOf('time');

/**
 * Writes the time of a message; false if it cannot be read or has to be moved into the window. `sentAtMs` is the
 * request's time of sending, used if the message has none of its own.
 */
export function addTime(
  source: PlainSource,
  original: number,
  sentAt: number,
  sentAtMs: number | undefined,
  out: JsonWriter,
): boolean {
  if (!isGiven(source, original)) return true;
  const { bytes, index, arrival } = source;
  const sentMs = isGiven(source, sentAt) ? readTimeAt(bytes, index, sentAt) : sentAtMs;
  const { timeMs, clampedFromMs } = messageTimeOf(readTimeAt(bytes, index, original), sentMs, arrival);
  if (timeMs === undefined || clampedFromMs !== undefined || timeMs < 0) return false;
  out.add(timeKey);
  out.whole(timeMs);
  out.byte(comma);
  return true;
}

/**
 * Writes the head of a message's event. Stores in the message's row where its id stands, and where the text that
 * decides its partition stands.
 */
export function beginEvent(
  { index, head }: PlainSource,
  message: PlainMessage,
  { id, own }: { readonly id: number; readonly own: number },
  out: JsonWriter,
): void {
  const { row } = message;
  row.idStart = index.valueStart(id) + 1;
  row.idEnd = index.valueEnd(id) - 1;
  row.ownStart = index.valueStart(own) + 1;
  row.ownEnd = index.valueEnd(own) - 1;
  out.take(head.start, head.end);
  out.take(row.idStart, row.idEnd);
  out.add(head.behindId);
  message.eventStart = out.length;
  out.openObject();
}
