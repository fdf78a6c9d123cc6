import { RE2JS } from 're2js';
import { PlanError } from './plan-error.ts';
import { createSearchAutomaton } from './search-automaton.ts';

export const patternCharactersMax = 1_000;
/** Maximum number of instructions of the compiled program, from which the search automaton is built. */
export const programSizeMax = 2_000;
/** Only this many characters of a longer text are searched, so that no event can occupy a thread for long. */
export const searchedCharactersMax = 4_096;

export type TextTest = (text: string) => boolean;

/**
 * Compiled expressions that are in use: the rules of several destinations, and of two versions, often have the same. An
 * expression that is no longer used is collected as garbage.
 */
const inUse = new Map<string, WeakRef<TextTest>>();
const unused = new FinalizationRegistry<string>((key) => {
  if (inUse.get(key)?.deref() === undefined) inUse.delete(key);
});

/**
 * Compiles a regular expression that searches in linear time: RE2 syntax (https://github.com/google/re2/wiki/Syntax),
 * which is the syntax of JavaScript and Perl without look-around and back-references. It matches anywhere in the text
 * unless `^` and `$` anchor it. A pattern has at most 1,000 characters and may not unfold into too large a program
 * (`(\w{500}){2}`). It has to fit into an automaton of bounded size, so that a search is one table look-up for each
 * character; `a.{20}b` does not fit. Only the first 4,096 characters of a text are searched. Throws PlanError naming
 * the field.
 */
export function compileRegex(pattern: string, ignoreCase: boolean, field: string): TextTest {
  const key = `${String(ignoreCase)} ${pattern}`;
  const known = inUse.get(key)?.deref();
  if (known !== undefined) return known;
  const test = createTest(pattern, ignoreCase, field);
  inUse.set(key, new WeakRef(test));
  unused.register(test, key);
  return test;
}

function createTest(pattern: string, ignoreCase: boolean, field: string): TextTest {
  if (pattern === '') throw new PlanError(field, 'must be a regular expression, not empty');
  if (pattern.length > patternCharactersMax) {
    throw new PlanError(field, `must be a regular expression of at most ${patternCharactersMax} characters`);
  }
  // Checked before the pattern is compiled: compiling a million instructions takes a second and hundreds of megabytes.
  if (unfoldedSize(pattern) > programSizeMax) throw new PlanError(field, 'repeats too much: use smaller counts in { }');
  const expression = compile(pattern, ignoreCase, field);
  if (expression.programSize() > programSizeMax) throw new PlanError(field, 'is too large a regular expression');
  const matches = createSearchAutomaton(expression);
  if (matches === undefined) {
    throw new PlanError(field, 'has to remember too much of the text: use smaller counts in { }, or * and + instead');
  }
  return (text) => matches(text, searchedCharactersMax);
}

function compile(pattern: string, ignoreCase: boolean, field: string): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : 'it does not compile';
    throw new PlanError(field, `must be a regular expression in RE2 syntax: ${reason}`, { cause });
  }
}

/**
 * The approximate number of atoms in a pattern after its counted repetitions are unfolded. The compiler checks whether
 * the pattern is well formed.
 */
function unfoldedSize(pattern: string): number {
  // Sizes of the open groups, innermost last, and of the atom that a repetition would apply to.
  const groups = [0];
  let atom = 0;
  const add = (size: number): void => {
    groups.push((groups.pop() ?? 0) + size);
  };
  let at = 0;
  while (at < pattern.length) {
    const repetition = pattern[at] === '{' ? repetitionAt(pattern, at) : undefined;
    if (repetition !== undefined) {
      add(atom * (repetition.count - 1));
      atom *= repetition.count;
      at = repetition.end;
    } else if (pattern[at] === '(') {
      groups.push(0);
      at += 1;
    } else if (pattern[at] === ')' && groups.length > 1) {
      atom = (groups.pop() ?? 0) + 1;
      add(atom);
      at += 1;
    } else {
      at = atomEnd(pattern, at);
      atom = 1;
      add(atom);
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

/** `{3}`, `{3,}` and `{3,5}`, which count as 3, 3 and 5 times. */
function repetitionAt(pattern: string, at: number): { count: number; end: number } | undefined {
  const repetition = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
  repetition.lastIndex = at;
  const match = repetition.exec(pattern);
  if (match === null) return undefined;
  const count = Math.max(Number(match[1]), Number(match[3] ?? 0), 1);
  return { count, end: at + match[0].length };
}

/** The end of the atom that starts at `at`: an escape, quoted text, a class in brackets, or one character. */
function atomEnd(pattern: string, at: number): number {
  if (pattern.startsWith('\\Q', at)) return endOf(pattern, '\\E', at);
  if (pattern[at] === '\\') return at + 2;
  if (pattern[at] !== '[') return at + 1;
  // A closing bracket right after the opening bracket, or after its ^, is a member of the class.
  let end = pattern[at + 1] === '^' ? at + 3 : at + 2;
  while (end < pattern.length && pattern[end] !== ']') {
    if (pattern.startsWith('[:', end) && pattern.includes(':]', end + 2)) end = endOf(pattern, ':]', end + 2);
    else end += pattern[end] === '\\' ? 2 : 1;
  }
  return end + 1;
}

function endOf(pattern: string, closing: string, from: number): number {
  const start = pattern.indexOf(closing, from);
  return start === -1 ? pattern.length : start + closing.length;
}
