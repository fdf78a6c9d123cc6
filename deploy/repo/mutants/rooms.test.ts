import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { rooms } from './rooms.ts';

test('mutants: every file of a room exists', () => {
  const paths = rooms.flatMap(({ files, testsIn = '' }) => [...files, testsIn]);
  expect(paths.filter((path) => !existsSync(new URL(path, topFolder)))).toEqual([]);
});
