import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { isHeldLock, isPassingFailure, isRefusedValue, isUnreachable, isWriteConflict } from './database-failure.ts';
import { ReadOnlyServerError } from './writable-session.ts';

const said = (code: string): DatabaseError => Object.assign(new DatabaseError('said', 4, 'error'), { code });

test.each([
  [said('57P01'), true],
  [said('25006'), true],
  [new ReadOnlyServerError(), true],
  [said('40001'), true],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  [new Error('Connection terminated unexpectedly'), true],
  [new Error('timeout exceeded when trying to connect'), true],
  [new Error('Query read timeout'), true],
  [Object.assign(new Error('full'), { name: 'KnexTimeoutError' }), true],
  [said('23505'), false],
  [new Error('a bug'), false],
  ['text', false],
])('database failure: %s is temporary: %s', (error, passes) => {
  expect(isPassingFailure(error)).toBe(passes);
});

test.each(['22P05', '23502', '54000'])('database failure: %s says that the value is never taken', (code) => {
  expect(isRefusedValue(said(code))).toBe(true);
  expect(isWriteConflict(said(code))).toBe(false);
});

test.each(['40001', '40P01'])('database failure: %s says that two writers conflicted', (code) => {
  expect(isWriteConflict(said(code))).toBe(true);
  expect(isRefusedValue(said(code))).toBe(false);
});

test.each<[unknown, boolean]>([
  ...['57P01', '57P03', '08006', '25006', '28P01', '3D000', '42P01', '42501', '53100', '53300', '58030'].map(
    (code): [unknown, boolean] => [said(code), true],
  ),
  [new ReadOnlyServerError(), true],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  [new Error('Connection terminated unexpectedly'), true],
  [new Error('timeout exceeded when trying to connect'), true],
  ...['57014', '55P03', '40001', '40P01', '53200', 'XX000', 'XX001', '54000', '22P05'].map(
    (code): [unknown, boolean] => [said(code), false],
  ),
  [new Error('Query read timeout'), false],
  [new RangeError('Maximum call stack size exceeded'), false],
  ['text', false],
])('database failure: %s affects the whole database: %s', (error, isOfAll) => {
  expect(isUnreachable(error)).toBe(isOfAll);
});

test('database failure: a held lock is distinguished from a statement that takes too long', () => {
  expect([said('55P03'), said('57014')].map(isHeldLock)).toEqual([true, false]);
});
