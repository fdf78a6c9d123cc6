import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { EnvError, count, port, readEnv } from './env.ts';

const schema = Type.Object({
  PORT: port(8080),
  ROWS_MAX: count(1000),
  KEY: Type.String({ minLength: 3 }),
  NAME: Type.Optional(Type.String()),
  LEVEL: Type.Enum(['low', 'high'], { default: 'low' }),
});

const files: Readonly<Record<string, string>> = { '/run/key': 'from-a-file\n' };
const read = (source: Record<string, string>): unknown =>
  readEnv(schema, source, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error('no such file');
    return text;
  });

test('env: defaults are applied and numbers converted', () => {
  expect(read({ KEY: 'abc', PORT: '9000', OTHER: 'x' })).toEqual({
    PORT: 9000,
    ROWS_MAX: 1000,
    KEY: 'abc',
    LEVEL: 'low',
  });
});

test('env: an empty variable counts as absent', () => {
  expect(read({ KEY: 'abc', PORT: '', NAME: '' })).toEqual({ PORT: 8080, ROWS_MAX: 1000, KEY: 'abc', LEVEL: 'low' });
});

test('env: a secret may come from a file', () => {
  expect(read({ KEY_FILE: '/run/key' })).toMatchObject({ KEY: 'from-a-file' });
});

test('env: every problem is reported at once, by variable', () => {
  const problems = ((): readonly string[] => {
    try {
      read({ PORT: '99999', ROWS_MAX: 'many', KEY_FILE: '/none' });
      return [];
    } catch (error) {
      if (error instanceof EnvError) return error.problems;
      throw error;
    }
  })();
  for (const name of ['PORT', 'ROWS_MAX', 'KEY_FILE', 'KEY']) {
    expect(problems.some((problem) => problem.startsWith(name))).toBe(true);
  }
});

test('env: a value outside a list is told what the list is', () => {
  expect(() => read({ KEY: 'abc', LEVEL: 'middle' })).toThrow(/LEVEL must be one of low, high/);
});
