import { expect, test } from 'vitest';
import { resultForTests } from '../testing/result-for-tests.ts';
import { differencesOf } from './run-compare.ts';

const before = resultForTests([], { settings: { connections: 256, environment: { FRAME_LINGER_MS: '5' } } });

test('differences: two equal runs have no differences', () => {
  expect(differencesOf(before, before)).toEqual([]);
});

test('differences: each setting that differs is named with both values', () => {
  const settings = { connections: 64, environment: { FRAME_LINGER_MS: '5', PIPELINE_THREADS: '4' } };
  expect(differencesOf(before, { ...before, settings, isQuick: true })).toEqual([
    'quick: false against true',
    'connections: 256 against 64',
    'PIPELINE_THREADS: not given against 4',
  ]);
});

test('differences: a different machine or disk is reported', () => {
  const { machine } = before;
  const others = { ...machine, cores: 8, disk: { ...machine.disk, p50: machine.disk.p50 * 3 } };
  expect(differencesOf(before, { ...before, machine: others })).toEqual([
    'cores: 2 against 8',
    'disk: a sync took 0.300 ms against 0.900 ms',
  ]);
});
