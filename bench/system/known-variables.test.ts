import { expect, test } from 'vitest';
import { knobs } from '../tune/knobs.ts';
import { knownVariables } from './known-variables.ts';

test('known variables: the variables of both services are known, including required ones, and no other variables are', () => {
  const known = knownVariables();
  expect([...known]).toEqual(expect.arrayContaining(['FRAMES_IN_FLIGHT_MAX', 'PIPELINE_THREADS', 'SECRETS_KEY']));
  expect(known.has('PIPELINE_THREAD')).toBe(false);
});

test('known variables: for a single service, the variables of the other service are not known', () => {
  const known = knownVariables(['gateway', 'sink']);
  expect([known.has('FRAMES_IN_FLIGHT_MAX'), known.has('PIPELINE_THREADS')]).toEqual([true, false]);
});

test('tune: every knob except that of nats-server is a variable of a service', () => {
  const known = knownVariables();
  expect(knobs.map(({ name }) => name).filter((name) => !known.has(name))).toEqual(['sync']);
});
