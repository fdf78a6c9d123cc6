import { ascii, isPrototypeKey, plainLeafEnd, plainStringEnd, skipJsonSpace, standsAt } from './scan-json.ts';
import type { JsonFacts } from './scan-json.ts';

const { quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;

/** Levels of nested objects whose members are indexed; the outermost object is the first level. */
const levelsMax = 3;
/** Maximum nesting: `indexMembers` keeps one bit for each level in a 32-bit integer. */
const depthMax = 30;

const keyStart = 0;
const keyEnd = 1;
const valueStart = 2;
const valueEnd = 3;
const next = 4;
const escaped = 5;
const sameAs = 6;
const cellsAMember = 7;
const none = -1;
const membersAtFirst = 256;
/** Capacity, in members, that `reset` keeps; a larger buffer is released. */
const membersKept = 32_768;

/**
 * The positions of the keys and values of JSON objects in a buffer, down to three nested objects; objects in arrays are
 * not indexed. Members are numbered in the order of the text. If the value of member n is an indexed object with
 * members, its first member is n + 1. `next(n)` is the member after n and all members inside it.
 */
export class MemberIndex {
  readonly #membersMax: number;
  #cells = new Int32Array(membersAtFirst * cellsAMember);
  #count = 0;
  #resets = 0;
  /** The text that was indexed last: its members, its range of bytes, and its number of object keys. */
  readonly #last = { first: 0, count: 0, start: 0, end: 0, keys: 0 };

  constructor(membersMax: number) {
    this.#membersMax = membersMax;
  }

  get isFull(): boolean {
    return this.#count >= this.#membersMax;
  }

  /** Number of members so far, which is also the number of the next member. */
  get count(): number {
    return this.#count;
  }

  /** Number of resets. After a reset the same member number refers to other bytes. */
  get resets(): number {
    return this.#resets;
  }

  reset(): void {
    this.#count = 0;
    this.#last.count = 0;
    this.#resets += 1;
    if (this.#cells.length > membersKept * cellsAMember) this.#cells = new Int32Array(membersAtFirst * cellsAMember);
  }

  /** The first member of the text that `repeat` compares with; -1 if there is none. */
  get lastFirst(): number {
    return this.#last.count === 0 ? none : this.#last.first;
  }

  /**
   * Records [start, end) as the last text: its members begin at `first`, and it has `keys` object keys at all levels.
   */
  endText(first: number, start: number, end: number, keys: number): void {
    const last = this.#last;
    last.first = first;
    last.count = this.#count - first;
    last.start = start;
    last.end = end;
    last.keys = keys;
  }

  /**
   * Adds the members of the text at `start` if it equals the last text byte for byte, except that a member's value may
   * be another string, number or literal. Returns the index after the text; -1, with nothing added, if the texts differ
   * more, or if a value that is not indexed is a non-empty array or object other than `repeated`. Most texts of a body
   * equal the previous text in this way, so only their values have to be read.
   */
  repeat(facts: JsonFacts, bytes: Buffer, start: number, repeated: RepeatedObject): number {
    const { first, count, start: lastStart, end: lastEnd, keys } = this.#last;
    const ownFirst = this.#count;
    if (count === 0 || ownFirst + count > this.#membersMax) return -1;
    // Positions up to which the last text and this text were compared, and the number of open objects.
    let there = lastStart;
    let here = start;
    let open = 0;
    for (let member = first; member < first + count; member += 1) {
      const value = this.valueStart(member);
      if (!isSame(bytes, there, value, here - there)) return this.#backTo(ownFirst, repeated);
      const by = here - there;
      const own = this.begin(this.keyStart(member) + by, this.keyEnd(member) + by, value + by);
      there = value;
      here = value + by;
      // The value is an object: its members are next in the index, and the bytes between them are compared.
      if (this.next(member) > member + 1) {
        // `indexMembers` reads this text, because an object identical to `repeated` gets no members of its own in the
        // index.
        if (member === repeated.member && repeated.sameEnd(bytes, here) >= 0) return this.#backTo(ownFirst, repeated);
        openMembers[open] = member;
        open += 1;
        continue;
      }
      here = this.#repeatValue(facts, bytes, member, own, repeated);
      if (here < 0) return this.#backTo(ownFirst, repeated);
      there = this.valueEnd(member);
      for (; open > 0 && this.next(openMembers[open - 1] as number) === member + 1; open -= 1) {
        const outer = openMembers[open - 1] as number;
        const ownOuter = outer - first + ownFirst;
        this.end(ownOuter, this.valueEnd(outer) + here - there, false);
        if (outer === repeated.member) repeated.moveTo(this, ownOuter);
      }
    }
    if (!isSame(bytes, there, lastEnd, here - there)) return this.#backTo(ownFirst, repeated);
    const end = lastEnd + here - there;
    this.endText(ownFirst, start, end, keys);
    facts.keys += keys;
    return end;
  }

  /**
   * Reads the value of `own`, which corresponds to `member` of the last text. Ends `own` and returns the index after
   * it; -1 if the value has to be read by `indexMembers`.
   */
  #repeatValue(facts: JsonFacts, bytes: Buffer, member: number, own: number, repeated: RepeatedObject): number {
    const start = this.valueStart(own);
    const byte = bytes[start];
    if (byte !== openBrace && byte !== openBracket) {
      const end = plainLeafEnd(facts, bytes, start);
      if (end >= 0) this.end(own, end, facts.stringEscaped);
      return end;
    }
    // A container of the same type nests no deeper than the last text, whose depth was checked.
    if (bytes[this.valueStart(member)] !== byte) return -1;
    if (bytes[start + 1] === (byte === openBrace ? closeBrace : closeBracket)) {
      this.end(own, start + 2, false);
      return start + 2;
    }
    const original = this.original(member);
    const end = original === member || original !== repeated.member ? -1 : repeated.sameEnd(bytes, start);
    if (end >= 0) this.endAs(own, end, original);
    return end;
  }

  #backTo(count: number, repeated: RepeatedObject): -1 {
    this.#count = count;
    if (repeated.member >= count) repeated.forget();
    return -1;
  }

  /**
   * Begins a member and returns its number. Its key is at [start, end), without the quotes; its value begins at
   * `value`.
   */
  begin(start: number, end: number, value: number): number {
    const cell = this.#count * cellsAMember;
    if (cell === this.#cells.length) {
      const grown = new Int32Array(cell * 2);
      grown.set(this.#cells);
      this.#cells = grown;
    }
    const cells = this.#cells;
    cells[cell + keyStart] = start;
    cells[cell + keyEnd] = end;
    cells[cell + valueStart] = value;
    cells[cell + sameAs] = none;
    this.#count += 1;
    return this.#count - 1;
  }

  /**
   * Ends a member; `end` is the index after its value. Members begun since are inside it. `hasEscape`: its value is a
   * string with an escape.
   */
  end(member: number, end: number, hasEscape: boolean): void {
    const cell = member * cellsAMember;
    this.#cells[cell + valueEnd] = end;
    this.#cells[cell + next] = this.#count;
    this.#cells[cell + escaped] = hasEscape ? 1 : 0;
  }

  /** Ends a member whose value has the same bytes as the value of `earlier`. Members inside it are not indexed. */
  endAs(member: number, end: number, earlier: number): void {
    this.end(member, end, false);
    this.#cells[member * cellsAMember + sameAs] = earlier;
  }

  keyStart(member: number): number {
    return this.#cells[member * cellsAMember + keyStart] as number;
  }

  keyEnd(member: number): number {
    return this.#cells[member * cellsAMember + keyEnd] as number;
  }

  /** The index of the first byte of the value; for a string, its opening quote. */
  valueStart(member: number): number {
    return this.#cells[member * cellsAMember + valueStart] as number;
  }

  /** The index after the last byte of the value. */
  valueEnd(member: number): number {
    return this.#cells[member * cellsAMember + valueEnd] as number;
  }

  /** The member after this member and after all members inside it. */
  next(member: number): number {
    return this.#cells[member * cellsAMember + next] as number;
  }

  /** The earlier member with the same value, as given to `endAs`; the member itself if there is none. */
  original(member: number): number {
    const earlier = this.#cells[member * cellsAMember + sameAs] as number;
    return earlier === none ? member : earlier;
  }

  /** Whether the value is a string with an escape in it. */
  isEscaped(member: number): boolean {
    return this.#cells[member * cellsAMember + escaped] === 1;
  }
}

/**
 * An object under one name, such as `context`, that successive texts repeat byte for byte. It is read once, and then
 * only compared.
 */
export class RepeatedObject {
  readonly #name: Uint8Array;
  #member = none;
  #start = 0;
  #end = 0;
  #keys = 0;
  /** The member whose object is being read. */
  #opened = none;
  #keysBefore = 0;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** The member whose value is the last object that was read; -1 if there is none. */
  get member(): number {
    return this.#member;
  }

  /** Forgets the object. Call it before another buffer is read. */
  forget(): void {
    this.#member = none;
  }

  /**
   * If the member has this name and its value equals the last object, ends the member and returns the index after it.
   * Otherwise returns -1, and the value has to be read.
   */
  repeat(index: MemberIndex, facts: JsonFacts, bytes: Buffer, member: number): number {
    const nameStart = index.keyStart(member);
    const isNamed = index.keyEnd(member) - nameStart === this.#name.length && standsAt(bytes, nameStart, this.#name);
    if (!isNamed) return -1;
    const end = this.sameEnd(bytes, index.valueStart(member));
    if (end >= 0) {
      facts.keys += this.#keys;
      index.endAs(member, end, this.#member);
      return end;
    }
    this.#opened = member;
    this.#keysBefore = facts.keys;
    return -1;
  }

  /** The index after the object at `start` if it equals the last object; -1 otherwise. */
  sameEnd(bytes: Buffer, start: number): number {
    const end = start + this.#end - this.#start;
    if (this.#member === none || end > bytes.length) return -1;
    return bytes.compare(bytes, this.#start, this.#end, start, end) === 0 ? end : -1;
  }

  /** Remembers the value of `member` as the last object; its number of keys must be the same. */
  moveTo(index: MemberIndex, member: number): void {
    this.#member = member;
    this.#start = index.valueStart(member);
    this.#end = index.valueEnd(member);
  }

  /** Call it for every member whose object or array ends. */
  close(index: MemberIndex, facts: JsonFacts, member: number): void {
    if (member !== this.#opened) return;
    this.moveTo(index, member);
    this.#keys = facts.keys - this.#keysBefore;
  }
}

// Shared by all indexes: one text is read at a time.
const openMembers = new Int32Array(levelsMax);

/** Whether the bytes at [start, end) are repeated `by` bytes later. */
function isSame(bytes: Uint8Array, start: number, end: number, by: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== bytes[at + by]) return false;
  return true;
}

// By depth: the member whose value is the open object or array; `none` if that member is not indexed.
const memberOfLevel = new Int32Array(depthMax + 1);

/**
 * Adds the members of the object at `start` to the index in one pass, and returns the index after the object. Returns
 * -1 if the text has to be parsed instead: it is not an object, not JSON, nests too deep, or has a key with an escape,
 * a key that could reach a prototype, a character escaped by number, a long number, a number with an exponent, or more
 * members than the index takes. Raw line breaks become spaces. `repeated` may be a direct member of the object. `facts`
 * receives depth, keys and bits; the caller checks that bytes beyond ASCII are UTF-8. Large: it reads every event once,
 * and a call for each character would cost more than the scan.
 */
export function indexMembers(
  index: MemberIndex,
  facts: JsonFacts,
  bytes: Buffer,
  start: number,
  repeated: RepeatedObject,
): number {
  if (bytes[start] !== openBrace) return -1;
  let at = start;
  let depth = 0;
  // How many of the open objects are indexed.
  let indexed = 0;
  // One bit for each level, the innermost lowest: 1 for an object, 0 for an array.
  let objects = 0;
  let member = none;
  for (;;) {
    const byte = bytes[at];
    const opensObject = byte === openBrace;
    const repeatEnd = opensObject && depth === 1 ? repeated.repeat(index, facts, bytes, member) : -1;
    if (repeatEnd >= 0) {
      at = repeatEnd;
      member = none;
    } else if (opensObject || byte === openBracket) {
      if (depth === depthMax) return -1;
      if (opensObject && indexed === depth && indexed < levelsMax) indexed += 1;
      depth += 1;
      memberOfLevel[depth] = member;
      member = none;
      objects = (objects << 1) | (opensObject ? 1 : 0);
      if (depth > facts.depth) facts.depth = depth;
      at = skipJsonSpace(bytes, at + 1);
      if (bytes[at] !== (opensObject ? closeBrace : closeBracket)) {
        if (!opensObject) continue;
        const end = keyEndAt(facts, bytes, at);
        if (end < 0) return -1;
        const value = valueBehind(bytes, end);
        if (value < 0) return -1;
        if (indexed === depth) {
          if (index.isFull) return -1;
          member = index.begin(at + 1, end, value);
        }
        at = value;
        continue;
      }
    } else {
      at = plainLeafEnd(facts, bytes, at);
      if (at < 0) return -1;
      if (member !== none) index.end(member, at, facts.stringEscaped);
      member = none;
    }
    at = skipJsonSpace(bytes, at);
    while (bytes[at] !== comma) {
      if (bytes[at] !== ((objects & 1) === 1 ? closeBrace : closeBracket)) return -1;
      at += 1;
      const own = memberOfLevel[depth] as number;
      if (own !== none) {
        index.end(own, at, false);
        repeated.close(index, facts, own);
      }
      if (indexed === depth) indexed -= 1;
      depth -= 1;
      objects >>= 1;
      if (depth === 0) return at;
      at = skipJsonSpace(bytes, at);
    }
    at = skipJsonSpace(bytes, at + 1);
    if ((objects & 1) === 0) continue;
    const end = keyEndAt(facts, bytes, at);
    if (end < 0) return -1;
    const value = valueBehind(bytes, end);
    if (value < 0) return -1;
    if (indexed === depth) {
      if (index.isFull) return -1;
      member = index.begin(at + 1, end, value);
    }
    at = value;
  }
}

/**
 * The index of the closing quote of the key whose opening quote is at `start`; -1 if the key has an escape or could
 * reach a prototype.
 */
function keyEndAt(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  if (bytes[start] !== quote) return -1;
  const end = plainStringEnd(facts, bytes, start + 1);
  if (end < 0 || facts.stringEscaped || isPrototypeKey(bytes, start + 1, end)) return -1;
  facts.keys += 1;
  return end;
}

/** Start of the value after the key whose closing quote is at `end`; -1 if no colon follows the key. */
function valueBehind(bytes: Uint8Array, end: number): number {
  const colonAt = skipJsonSpace(bytes, end + 1);
  return bytes[colonAt] === colon ? skipJsonSpace(bytes, colonAt + 1) : -1;
}
