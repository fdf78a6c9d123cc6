import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { MemberIndex, RepeatedObject, indexMembers } from '../../../shared/json/member-index.ts';
import type { JsonLimits } from '../../payload/read-json.ts';
import {
  JsonFacts,
  ascii,
  noteKey,
  scanString,
  scanValue,
  skipJsonSpace,
  startOfJson,
  standsAt,
} from '../../../shared/json/scan-json.ts';
import { readLenientValue } from '../../payload/lenient-value.ts';
import { PlainRow } from '../../payload/scan-body.ts';

const { quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;
const firstNonAscii = 0x80;
const batchKey = Buffer.from('batch');

/**
 * A message that needs no parsing, because its bytes are known to be valid JSON, with its position in the body. The
 * object is reused: read it before the next body is read.
 */
export class PlainMessage {
  /** Range of the message's bytes in the body. */
  start = 0;
  end = 0;
  /** Index of the message's first member, and the index after its last member. Equal if it has none. */
  first = 0;
  last = 0;
  /** Index of the previous message's first member, if both messages have the same names in the same order; else -1. */
  alike = -1;
  /** Start of the message's event in the written bytes, after the event's head. */
  eventStart = 0;
  /** Fields that decide the event's partition; set once the event is written. */
  readonly row = new PlainRow();
}

/** A message that cannot be read, although other messages of its batch can. */
export class UnreadableMessage {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** A body with many messages, most of which need no parsing. */
export type PlainBatch = {
  /** The body with an empty array in place of its messages; an empty object if the body itself is an array. */
  readonly top: JsonObject;
  /** Whether any part of the body had to be repaired. */
  readonly mended: boolean;
  /** One item per message: a `PlainMessage`, an `UnreadableMessage`, or the parsed value of any other message. */
  readonly messages: readonly unknown[];
};

/** Splits a body into the messages of its `batch`, and parses only messages that need it. */
export class PlainBatchReader {
  /** Members of the messages of the body read last. */
  readonly index: MemberIndex;
  readonly #limits: JsonLimits & { readonly rowsMax: number };
  /** Facts about the body without its messages; each message has facts of its own. */
  readonly #facts = new JsonFacts();
  readonly #pool: PlainMessage[] = [];
  /** Bitwise OR of all message bytes of the body read last: tells whether they are ASCII. */
  #bits = 0;
  #mended = false;
  /** A server sends mostly the same context with all its events. */
  readonly #context = new RepeatedObject('context');

  constructor(limits: JsonLimits & { readonly rowsMax: number }) {
    this.#limits = limits;
    this.index = new MemberIndex(limits.keysMax);
  }

  /** Returns undefined if the body has to be parsed as a whole; such a body may also be invalid. */
  read(body: Buffer, mayBeList: boolean): PlainBatch | undefined {
    const facts = this.#facts;
    facts.reset();
    this.index.reset();
    this.#context.forget();
    this.#mended = false;
    this.#bits = 0;
    const messages: unknown[] = [];
    const start = startOfJson(body);
    const isList = mayBeList && body[start] === openBracket;
    const places = isList ? this.#findList(body, start, messages) : this.#findMessages(body, messages);
    if (places === undefined || facts.depth > this.#limits.depthMax || facts.keys > this.#limits.keysMax)
      return undefined;
    const bits = facts.bits | this.#bits;
    if (bits >= firstNonAscii && !isUtf8(body) && !this.#refuseNonUtf8(body, places, messages)) return undefined;
    const around = Buffer.concat([body.subarray(0, places.start), body.subarray(places.end)]);
    const top = isList ? { value: {}, mended: false } : readLenientValue(around, facts);
    if (!isJsonObject(top?.value)) return undefined;
    return { top: top.value, messages, mended: top.mended || this.#mended };
  }

  /** The elements of a body that is an array. */
  #findList(body: Buffer, start: number, messages: unknown[]): Places | undefined {
    const end = this.#readMessages(body, start + 1, messages);
    return end < 0 || skipJsonSpace(body, end + 1) < body.length ? undefined : { start: start + 1, end };
  }

  /**
   * Range of the elements of `batch`, from after its `[` to its `]`; undefined unless the body has exactly one `batch`.
   */
  #findMessages(body: Buffer, messages: unknown[]): Places | undefined {
    const facts = this.#facts;
    let places: Places | undefined;
    let at = startOfJson(body);
    if (body[at] !== openBrace) return undefined;
    at = skipJsonSpace(body, at + 1);
    while (body[at] !== closeBrace) {
      if (body[at] !== quote) return undefined;
      const keyEnd = scanString(facts, body, at);
      const { stringStart: keyStart, stringEscaped } = facts;
      const colonAt = skipJsonSpace(body, keyEnd + 1);
      if (body[colonAt] !== colon || stringEscaped) return undefined;
      noteKey(facts, body, colonAt);
      at = skipJsonSpace(body, colonAt + 1);
      const isBatch = keyEnd - keyStart === batchKey.length && standsAt(body, keyStart, batchKey);
      if (isBatch) {
        if (places !== undefined || body[at] !== openBracket) return undefined;
        const end = this.#readMessages(body, at + 1, messages);
        if (end < 0) return undefined;
        places = { start: at + 1, end };
        at = end + 1;
      } else {
        at = scanValue(facts, body, at);
      }
      at = skipJsonSpace(body, at);
      if (body[at] === comma) at = skipJsonSpace(body, at + 1);
      else if (body[at] !== closeBrace) return undefined;
    }
    return skipJsonSpace(body, at + 1) < body.length ? undefined : places;
  }

  /**
   * Reads the elements of an array from after its `[` and returns the position of its `]`; -1 if it finds anything
   * other than elements and commas.
   */
  #readMessages(body: Buffer, start: number, messages: unknown[]): number {
    let at = skipJsonSpace(body, start);
    if (body[at] === closeBracket) return at;
    for (;;) {
      if (messages.length === this.#limits.rowsMax) return -1;
      at = this.#readMessage(body, at, messages);
      if (at < 0) return -1;
      at = skipJsonSpace(body, at);
      if (body[at] === closeBracket) return at;
      if (body[at] !== comma) return -1;
      at = skipJsonSpace(body, at + 1);
    }
  }

  #readMessage(body: Buffer, start: number, messages: unknown[]): number {
    const { index } = this;
    const plain = (this.#pool[messages.length] ??= new PlainMessage());
    plain.first = index.count;
    const facts = rowFacts;
    facts.reset();
    const alike = index.lastFirst;
    let end = index.repeat(facts, body, start, this.#context);
    plain.alike = end < 0 ? -1 : alike;
    if (end < 0) {
      facts.reset();
      end = indexMembers(index, facts, body, start, this.#context);
      if (end >= 0) index.endText(plain.first, start, end, facts.keys);
    }
    if (end >= 0) {
      plain.start = start;
      plain.end = end;
      plain.last = index.count;
      messages.push(facts.keys > this.#limits.keysMax ? tooManyKeys(this.#limits.keysMax) : plain);
      this.#bits |= facts.bits;
      return end;
    }
    facts.reset();
    const valueEnd = scanValue(facts, body, start);
    const message = this.#readValue(body.subarray(start, valueEnd), facts);
    if (message === undefined) return -1;
    this.#bits |= facts.bits;
    this.#keepPlace(messages.length, start, valueEnd);
    messages.push(message);
    return valueEnd;
  }

  /**
   * Parses a message that is not plain; undefined if it is not JSON, since the rest of the body then cannot be read
   * either.
   */
  #readValue(bytes: Buffer, facts: JsonFacts): unknown {
    const { depthMax, keysMax } = this.#limits;
    const deepest = depthMax - levelsAround;
    if (facts.depth > deepest) return new UnreadableMessage(`a message nests deeper than ${deepest} levels`);
    if (facts.keys > keysMax) return tooManyKeys(keysMax);
    const read = readLenientValue(bytes, facts);
    if (read?.mended === true) this.#mended = true;
    return read?.value;
  }

  #keepPlace(index: number, start: number, end: number): void {
    const message = (this.#pool[index] ??= new PlainMessage());
    message.start = start;
    message.end = end;
  }

  /** Marks messages that are not UTF-8 as unreadable; false if the body around the messages is not UTF-8. */
  #refuseNonUtf8(body: Buffer, { start, end }: Places, messages: unknown[]): boolean {
    if (!isUtf8(body.subarray(0, start)) || !isUtf8(body.subarray(end))) return false;
    for (let index = 0; index < messages.length; index += 1) {
      const place = this.#pool[index];
      if (place !== undefined && !isUtf8(body.subarray(place.start, place.end))) {
        messages[index] = new UnreadableMessage('a message is not valid UTF-8');
      }
    }
    return true;
  }
}

const tooManyKeys = (keysMax: number): UnreadableMessage =>
  new UnreadableMessage(`a message has more than ${keysMax} keys`);

/** JSON levels around a message: the array and the body. */
const levelsAround = 2;

type Places = { readonly start: number; readonly end: number };

// Shared, since only one body is read at a time.
const rowFacts = new JsonFacts();
