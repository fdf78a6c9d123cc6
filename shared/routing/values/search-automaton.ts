import type { RE2JS } from 're2js';

/** Whether an expression matches somewhere in the first `charactersMax` UTF-16 units of a text. */
export type SearchAutomaton = (text: string, charactersMax: number) => boolean;

/** Maximum number of states of an expression's automaton. */
export const automatonStatesMax = 2_000;
/**
 * Maximum number of steps to build an automaton: about ten milliseconds. Also the maximum number of cells of its table.
 */
export const automatonStepsMax = 250_000;

/**
 * Builds the whole deterministic automaton of an expression in advance: a search is then one table look-up for each
 * character of any text. Undefined if the automaton would have more than 2,000 states or need more than 250,000 steps,
 * as for expressions that have to remember much of the text (`a[ab]{20}c`).
 *
 * It is the subset construction over the instructions of the compiled program, as in
 * https://swtch.com/~rsc/regexp/regexp2.html. The result is only whether there is a match, so the first match ends a
 * search.
 */
export function createSearchAutomaton(expression: RE2JS): SearchAutomaton | undefined {
  const { prog, dfa }: { readonly prog: Program; readonly dfa: { readonly classBounds: Int32Array } } =
    expression.re2();
  try {
    const steps = new Steps(automatonStepsMax);
    const alphabet = readAlphabet(prog, dfa.classBounds, steps);
    return searchTable(new Construction(prog, alphabet, steps).run(), alphabet);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** A compiled program of the library. */
type Program = {
  readonly start: number;
  numInst(): number;
  getInst(pc: number): Instruction;
};

type Instruction = {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
  matchRune(rune: number): boolean;
};

/** Opcodes of the instructions. 8 to 11 consume a character. */
const op = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, match: 6, nop: 7, firstRune: 8, lastRune: 11 } as const;
/** What an instruction that consumes no character requires of its position, as bits. */
const at = {
  lineStart: 1,
  lineEnd: 2,
  textStart: 4,
  textEnd: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;
/** The bits that are known before the next character is read; the others depend on that character. */
const knownBefore = at.lineStart | at.textStart;
/** A further bit of a state's context: the previous character belongs to a word. */
const afterWord = 64;

const newline = 10;
const dead = 0;
const accepted = 1;

class TooLarge extends Error {}

/** Counts the steps of building an automaton. Throws TooLarge above the limit. */
class Steps {
  #left: number;

  constructor(max: number) {
    this.#left = max;
  }

  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new TooLarge();
  }
}

/** The kinds of characters that an expression distinguishes. */
type Alphabet = {
  /** Starts of the ranges of code points of one kind, without the first start, 0. */
  readonly bounds: Int32Array;
  /** Kind of each range. */
  readonly kinds: Uint16Array;
  /** One code point of each kind. */
  readonly examples: readonly number[];
  /** Whether the instruction consumes a character of the kind. */
  takes(pc: number, kind: number): boolean;
};

function readAlphabet(program: Program, bounds: Int32Array, steps: Steps): Alphabet {
  // Instructions that consume the same characters share a column.
  const columnOf = new Map<number, number>();
  const takers: Instruction[] = [];
  for (let pc = 0; pc < program.numInst(); pc += 1) {
    const instruction = program.getInst(pc);
    if (instruction.op < op.firstRune || instruction.op > op.lastRune) continue;
    const known = takers.findIndex((other) => {
      steps.take(1);
      return takeTheSame(instruction, other, steps);
    });
    columnOf.set(pc, known === -1 ? takers.length : known);
    if (known === -1) takers.push(instruction);
  }
  const kindOf = new Map<string, number>();
  const examples: number[] = [];
  const taken: (readonly boolean[])[] = [];
  const kinds = new Uint16Array(bounds.length + 1);
  for (let range = 0; range <= bounds.length; range += 1) {
    const example = range === 0 ? 0 : (bounds[range - 1] ?? 0);
    steps.take(takers.length);
    const row = takers.map((instruction) => instruction.matchRune(example));
    const key = `${row.map(Number).join('')}${String(example === newline)}${String(isWord(example))}`;
    const known = kindOf.get(key);
    kinds[range] = known ?? examples.length;
    if (known !== undefined) continue;
    kindOf.set(key, examples.length);
    examples.push(example);
    taken.push(row);
  }
  return { bounds, kinds, examples, takes: (pc, kind) => taken[kind]?.[columnOf.get(pc) ?? -1] === true };
}

/** Numbers of two lists that are compared in one step. */
const comparedInStep = 16;

function takeTheSame(one: Instruction, other: Instruction, steps: Steps): boolean {
  if (one.arg !== other.arg || one.runes.length !== other.runes.length) return false;
  if (one.runes === other.runes) return true;
  steps.take(Math.ceil(one.runes.length / comparedInStep));
  return one.runes.every((rune, index) => rune === other.runes[index]);
}

function isWord(codePoint: number): boolean {
  return codePoint < 128 && /\w/.test(String.fromCodePoint(codePoint));
}

/** A set of positions in the program: those that consume a character, and those that depend on the next one. */
type State = {
  readonly takers: readonly number[];
  readonly askers: readonly number[];
  readonly context: number;
};

/**
 * The rows of all states. A row has a cell for each kind of character and one for the end of the text; the rows of
 * `dead` and `accepted` are empty.
 */
type Table = { readonly cells: Uint16Array; readonly width: number; readonly start: number };

class Construction {
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  readonly #steps: Steps;
  readonly #states: State[] = [];
  readonly #numbers = new Map<string, number>();
  /** Whether a match may begin at the start of a later line, even if none may begin within a line: `(?m)^`. */
  readonly #beginsAtLines: boolean;

  constructor(program: Program, alphabet: Alphabet, steps: Steps) {
    this.#program = program;
    this.#alphabet = alphabet;
    this.#steps = steps;
    const begun = this.#follow([program.start], at.lineStart, true);
    this.#beginsAtLines = begun === undefined || begun.takers.length > 0 || begun.askers.length > 0;
  }

  run(): Table {
    const kinds = this.#alphabet.examples.length;
    const none: State = { takers: [], askers: [], context: 0 };
    this.#states.push(none, none);
    const start = this.#number([this.#program.start], at.textStart | at.lineStart);
    const rows: number[][] = [[], []];
    for (let number = accepted + 1; number < this.#states.length; number += 1) {
      const state = this.#states[number] ?? none;
      const row = Array.from({ length: kinds }, (_, kind) => this.#next(state, kind));
      row.push(this.#isAcceptedAtEnd(state) ? accepted : dead);
      rows.push(row);
    }
    const width = kinds + 1;
    const cells = new Uint16Array(rows.length * width);
    for (const [number, row] of rows.entries()) cells.set(row, number * width);
    return { cells, width, start };
  }

  /** The number of the state with these positions; a match ends the search, and so does a state without positions. */
  #number(places: readonly number[], context: number): number {
    const reached = this.#follow(places, context & knownBefore, true);
    if (reached === undefined) return accepted;
    const { takers, askers } = reached;
    if (takers.length === 0 && askers.length === 0 && !this.#beginsAtLines) return dead;
    const kept = askers.length === 0 ? 0 : context;
    const key = `${takers.join()};${askers.join()};${kept}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#states.length;
    if (number >= automatonStatesMax) throw new TooLarge();
    this.#steps.take(this.#alphabet.examples.length);
    this.#numbers.set(key, number);
    this.#states.push({ takers, askers, context: kept });
    return number;
  }

  #next(state: State, kind: number): number {
    const { examples } = this.#alphabet;
    const example = examples[kind] ?? 0;
    const isWordNext = isWord(example);
    const ahead = (example === newline ? at.lineEnd : 0) | boundaryOf(state, isWordNext);
    const takers = this.#takersWith(state, ahead);
    if (takers === undefined) return accepted;
    this.#steps.take(takers.length + 1);
    const places = takers.flatMap((pc) => (this.#alphabet.takes(pc, kind) ? [this.#program.getInst(pc).out] : []));
    // A match may begin anywhere.
    places.push(this.#program.start);
    return this.#number(places, (example === newline ? at.lineStart : 0) | (isWordNext ? afterWord : 0));
  }

  #isAcceptedAtEnd(state: State): boolean {
    return this.#takersWith(state, at.textEnd | at.lineEnd | boundaryOf(state, false)) === undefined;
  }

  /** The positions that consume a character once the next one is known; undefined if they include a match. */
  #takersWith({ takers, askers, context }: State, ahead: number): readonly number[] | undefined {
    if (askers.length === 0) return takers;
    const reached = this.#follow([...takers, ...askers], (context & knownBefore) | ahead, false);
    return reached?.takers;
  }

  /**
   * Follows instructions that consume no character, as far as the position allows; undefined if that leads to a
   * match.
   */
  #follow(places: readonly number[], place: number, mayAsk: boolean): Omit<State, 'context'> | undefined {
    const seen = new Set<number>();
    const open = [...places];
    const takers: number[] = [];
    const askers: number[] = [];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (seen.has(pc)) continue;
      seen.add(pc);
      this.#steps.take(1);
      const instruction = this.#program.getInst(pc);
      switch (instruction.op) {
        case op.match:
          return undefined;
        case op.alt:
        case op.altMatch:
          open.push(instruction.out, instruction.arg);
          break;
        case op.capture:
        case op.nop:
          open.push(instruction.out);
          break;
        case op.emptyWidth: {
          const missing = instruction.arg & ~place;
          if (missing === 0) open.push(instruction.out);
          else if (mayAsk && (missing & knownBefore) === 0) askers.push(pc);
          break;
        }
        default:
          if (instruction.op >= op.firstRune && instruction.op <= op.lastRune) takers.push(pc);
      }
    }
    return { takers: takers.sort(byNumber), askers: askers.sort(byNumber) };
  }
}

const byNumber = (a: number, b: number): number => a - b;

function boundaryOf({ context }: State, isWordNext: boolean): number {
  return ((context & afterWord) !== 0) === isWordNext ? at.noWordBoundary : at.wordBoundary;
}

const latin1 = 256;

function searchTable({ cells, width, start }: Table, { bounds, kinds }: Alphabet): SearchAutomaton {
  const kindOf = (codePoint: number): number => kinds[rangeOf(bounds, codePoint)] ?? 0;
  const latinKinds = Uint16Array.from({ length: latin1 }, (_, codePoint) => kindOf(codePoint));
  const end = width - 1;
  return (text, charactersMax) => {
    const length = Math.min(text.length, charactersMax);
    let state = start;
    for (let index = 0; index < length && state > accepted; index += 1) {
      const unit = text.charCodeAt(index);
      let kind = latinKinds[unit];
      if (kind === undefined) {
        const codePoint = index + 1 < length ? (text.codePointAt(index) ?? unit) : unit;
        if (codePoint !== unit) index += 1;
        kind = kindOf(codePoint);
      }
      state = cells[state * width + kind] ?? dead;
    }
    return state > accepted ? cells[state * width + end] === accepted : state === accepted;
  };
}

/** The number of bounds at or below a code point. */
function rangeOf(bounds: Int32Array, codePoint: number): number {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= codePoint) low = middle + 1;
    else high = middle;
  }
  return low;
}
