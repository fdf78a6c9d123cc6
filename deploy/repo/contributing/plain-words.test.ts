import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../../..');

/** This file names the words. */
const ownPath = 'deploy/repo/contributing/plain-words.test.ts';

/** Wordings that are never right in text about a program, each with its replacement. */
const refused: readonly (readonly [words: string, better: string])[] = [
  ['who(?:m)?ever', 'a name: the resolver, the operator'],
  // Except as the Unix user of that name.
  [String.raw`nobody(?!(?<=^'nobody)'$|:\w|:\/)`, 'a name: no reader, no operator'],
  ['somebody', 'a name: a client, an operator'],
  ['everybody', 'a name: every instance, all clients'],
  ['anew', 'again, or re- (restart, recreate)'],
  ['told', 'sent, reported, notified'],
  ['heard', 'received'],
  ['noted', 'recorded'],
  ['buried', 'stored as a dead letter'],
  ['(?:is|are|was|were|be|been) given up', 'becomes a dead letter'],
  ['set(?:s|ting)? aside', 'quarantine'],
  ['pass(?:es|ed|ing)? over', 'skip'],
  ['mend(?:s|ed|ing)?', 'fix'],
  ['of before', 'of the previous version'],
  ['what waits', 'a noun: waiting events'],
  ['go(?:es)? on behind', 'continue after'],
  ['one behind the other', 'one after the other'],
  ['without a word', 'silently'],
  ['tells? of', 'report, show, return'],
  ['(?:is|are|was) said of', 'a noun: the consent, the fields, the attempts'],
  ['look(?:s|ed|ing)? out for', 'watch for'],
  ['by halves', 'in part'],
  ['in hand', 'in flight'],
  ['behind (?:that|what)', 'after'],
  ['closed as they c[ao]me', 'refused'],
  ['do(?:es)? right', 'a verb that says what should happen'],
  ['the one who', 'a name: the client, the writer'],
  ['furthest behind', 'with the longest wait'],
  ['in (?:its|his|their) stead', 'in its place'],
  ['befell', 'happened to'],
  ['none (?:that )?this build knows', 'a format that this build does not know'],
  ['what came of', 'the result, the outcome'],
  ['takes? note of', 'record, register'],
];

const patterns = refused.map(
  ([words, better]) => [new RegExp(`\\b(?:${words.replaceAll(' ', String.raw`\s+`)})\\b`, 'gi'), better] as const,
);

/** Matches comments, strings of each kind, and regular expressions, in which a quote begins no string. */
const pieces = new RegExp(
  [
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*`,
    String.raw`(?<=[=(,:[!&|?{};\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    '`(?:\\\\.|[^`\\\\])*`',
  ].join('|'),
  'g',
);
const markup = /[>}][^<>{}=;()'"`]+[<{]/g;

type Text = { readonly text: string; readonly start: number };

function textsOf(path: string, content: string): readonly Text[] {
  if (path.endsWith('.md')) return [{ text: content, start: 0 }];
  const matches = [...content.matchAll(pieces), ...(path.endsWith('.tsx') ? content.matchAll(markup) : [])];
  const isFree = (text: string): boolean => /^(?:'\.\.?\/|\/[^*/])/.test(text);
  return matches.map(({ 0: text, index }) => ({ text, start: index })).filter(({ text }) => !isFree(text));
}

/** Each refused wording of a file, as `file:line: "word": write …`. */
function findingsOf(path: string, content: string): readonly string[] {
  return textsOf(path, content).flatMap(({ text, start }) => {
    // Joins the lines of a comment, because sentences span them. Every character keeps its position.
    const sentence = text.replaceAll(/\n\s*(?:\*|\/\/)|\$\{[^{}]*\}/g, (part) => ' '.repeat(part.length));
    return patterns.flatMap(([pattern, better]) =>
      [...sentence.matchAll(pattern)].map(({ 0: word, index }) => {
        const line = content.slice(0, start + index).split('\n').length;
        return `${path}:${line}: "${word.replaceAll(/\s+/g, ' ')}": write ${better}`;
      }),
    );
  });
}

test('plain words: code and pages hold no refused wording', async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { cwd: top });
  const paths = stdout.split('\n').filter((path) => path !== '' && path !== ownPath);
  expect(paths.length).toBeGreaterThan(1_000);
  const contents = await Promise.all(paths.map((path) => readFile(join(top, path), 'utf8')));
  expect(paths.flatMap((path, index) => findingsOf(path, contents[index] ?? ''))).toEqual([]);
});

test('plain words: a refused wording is found in comments, strings, markup and Markdown, with its line and the better word', () => {
  const code = [
    "import { anew } from './nobody.ts';",
    '/**',
    ' * Whoever reads it goes',
    ' * on behind it.',
    ' */',
    'const heard = /[`]/.test(anew) || nobody; // Somebody else',
    "throw new Error('a frame was given up');",
    'const text = `${heard} was set aside`;',
  ].join('\n');
  expect(findingsOf('a/x.ts', code)).toEqual([
    'a/x.ts:3: "Whoever": write a name: the resolver, the operator',
    'a/x.ts:3: "goes on behind": write continue after',
    'a/x.ts:6: "Somebody": write a name: a client, an operator',
    'a/x.ts:7: "was given up": write becomes a dead letter',
    'a/x.ts:8: "set aside": write quarantine',
  ]);
  expect(findingsOf('a/x.tsx', 'return (\n  <p>\n    Nobody read {heard}\n  </p>\n);')).toEqual([
    'a/x.tsx:3: "Nobody": write a name: no reader, no operator',
  ]);
  expect(findingsOf('a/x.md', 'One line.\n\nIt starts anew.\n')).toEqual([
    'a/x.md:3: "anew": write again, or re- (restart, recreate)',
  ]);
  expect(findingsOf('a/x.ts', '// The operator restarts it.\nconst nobody = 1;')).toEqual([]);
});
