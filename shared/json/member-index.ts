import { ascii, isPrototypeKey, plainLeafEnd, plainStringEnd, skipJsonSpace, standsAt } from './scan-json.ts';
import type { JsonFacts } from './scan-json.ts';

const { quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;

/** Objects within objects whose members are indexed, the outermost included. */
const levelsMax = 3;
/** One bit a level has to fit into a whole number. */
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
/** The capacity, in members, that is kept for the next text. */
const membersKept = 32_768;

/**
 * An index of the members of objects in some bytes, three levels deep, without objects in arrays. Members are numbered
 * in the order of the text. The members of an object follow the member that has the object as its value: the first one
 * has the next number, and `next` returns the following one.
 */
export class MemberIndex {
  readonly #membersMax: number;
  #cells = new Int32Array(membersAtFirst * cellsAMember);
  #count = 0;
  #resets = 0;
  /** The text that was read last. */
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

  /** Counts resets: the same member number after a reset belongs to other bytes. */
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

  /** Ends the text at [start, end) of so many keys, whose members begin at `first`. */
  endText(first: number, start: number, end: number, keys: number): void {
    const last = this.#last;
    last.first = first;
    last.count = this.#count - first;
    last.start = start;
    last.end = end;
    last.keys = keys;
  }

  /**
   * Adds the members of the text at `start` if it says what the text before it says, byte for byte, but for the values of
   * members that hold no others, and returns the index behind it; -1, and nothing is added, where it does not. Most texts
   * of a body are such: then there is nothing to do but to read the values and compare what stands between them.
   */
  repeat(facts: JsonFacts, bytes: Buffer, start: number, repeated: RepeatedObject): number {
    const { first, count, start: lastStart, end: lastEnd, keys } = this.#last;
    const ownFirst = this.#count;
    if (count === 0 || ownFirst + count > this.#membersMax) return -1;
    // Positions up to which both texts were compared, and the number of open members.
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
      // Its own members follow, and are compared with what stands between them.
      if (this.next(member) > member + 1) {
        // A repeated object has no members of its own in the index.
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
   * Ends the member that corresponds to `member` of the last text, and returns the index after it; -1 if its value has
   * another type.
   */
  #repeatValue(facts: JsonFacts, bytes: Buffer, member: number, own: number, repeated: RepeatedObject): number {
    const start = this.valueStart(own);
    const byte = bytes[start];
    if (byte !== openBrace && byte !== openBracket) {
      const end = plainLeafEnd(facts, bytes, start);
      if (end >= 0) this.end(own, end, facts.stringEscaped);
      return end;
    }
    // So that it nests no deeper than what was met.
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

  /** Begins a member; its key stands between its quotes. */
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

  /** Ends the member, whose own members were begun meanwhile. */
  end(member: number, end: number, hasEscape: boolean): void {
    const cell = member * cellsAMember;
    this.#cells[cell + valueEnd] = end;
    this.#cells[cell + next] = this.#count;
    this.#cells[cell + escaped] = hasEscape ? 1 : 0;
  }

  /** Ends a member with the same bytes as the value of an earlier member; its own members are not indexed. */
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

  /** The first byte of the value; a string's is its quote. */
  valueStart(member: number): number {
    return this.#cells[member * cellsAMember + valueStart] as number;
  }

  /** The index after the last byte of the value. */
  valueEnd(member: number): number {
    return this.#cells[member * cellsAMember + valueEnd] as number;
  }

  /** The member after this one and all within it. */
  next(member: number): number {
    return this.#cells[member * cellsAMember + next] as number;
  }

  /** The earlier member whose value is the same; the member itself where there is none. */
  original(member: number): number {
    const earlier = this.#cells[member * cellsAMember + sameAs] as number;
    return earlier === none ? member : earlier;
  }

  /** Whether the value is a string with an escape in it. */
  isEscaped(member: number): boolean {
    return this.#cells[member * cellsAMember + escaped] === 1;
  }
}

/** An object of this name that successive texts repeat byte for byte: it is read once, and then only compared. */
export class RepeatedObject {
  readonly #name: Uint8Array;
  #member = none;
  #start = 0;
  #end = 0;
  #keys = 0;
  /** The member being read. */
  #opened = none;
  #keysBefore = 0;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** The member from which the object was read; -1 before the first. */
  get member(): number {
    return this.#member;
  }

  /** Forgets the object; call it before other bytes are read. */
  forget(): void {
    this.#member = none;
  }

  /**
   * Ends a member that repeats the last object of this name, and returns the index after it; -1 if it has to be read.
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

  /** The index after the object at `start` if it repeats the last one; -1 otherwise. */
  sameEnd(bytes: Buffer, start: number): number {
    const end = start + this.#end - this.#start;
    if (this.#member === none || end > bytes.length) return -1;
    return bytes.compare(bytes, this.#start, this.#end, start, end) === 0 ? end : -1;
  }

  /** Moves to another member, whose object differs only in its values. */
  moveTo(index: MemberIndex, member: number): void {
    this.#member = member;
    this.#start = index.valueStart(member);
    this.#end = index.valueEnd(member);
  }

  /** To be called with every member that ends. */
  close(index: MemberIndex, facts: JsonFacts, member: number): void {
    if (member !== this.#opened) return;
    this.moveTo(index, member);
    this.#keys = facts.keys - this.#keysBefore;
  }
}

// One text is read at a time.
const openMembers = new Int32Array(levelsMax);

/** Whether [start, end) is repeated `by` bytes later. */
function isSame(bytes: Uint8Array, start: number, end: number, by: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== bytes[at + by]) return false;
  return true;
}

// The member of each open object or array; `none` if it is not indexed.
const memberOfLevel = new Int32Array(depthMax + 1);

/**
 * Adds the members of the object that begins at `start` to an index, in one pass, and returns the position after it; -1
 * if it has to be parsed: it is not an object, not JSON, or has a key with an escape, a key that could reach a
 * prototype, a character escaped by number, a number with an exponent, or more members than the index takes. Raw line
 * breaks become spaces. `repeated` is an object among its own members. `facts` learn depth, keys and bits of it;
 * whether it is UTF-8 where it is not ASCII is left to the caller. Large: reads every event once: a call a character
 * would cost more than the scan.
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
  // One bit a level, the innermost lowest: set for an object.
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

/** The closing quote of the key whose opening quote is at `start`; -1 if the key is not plain. */
function keyEndAt(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  if (bytes[start] !== quote) return -1;
  const end = plainStringEnd(facts, bytes, start + 1);
  if (end < 0 || facts.stringEscaped || isPrototypeKey(bytes, start + 1, end)) return -1;
  facts.keys += 1;
  return end;
}

/** Start of the value after the key whose closing quote is at `end`; -1 without a colon. */
function valueBehind(bytes: Uint8Array, end: number): number {
  const colonAt = skipJsonSpace(bytes, end + 1);
  return bytes[colonAt] === colon ? skipJsonSpace(bytes, colonAt + 1) : -1;
}
