import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EnvError } from '../runtime/env.ts';
import { closestName, didYouMean } from './closest-name.ts';
import { besideStack, removeStackEnvironment, writeStackEnvironment } from './local-stack.ts';
import { faultsOf } from './run-command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-beside-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('closest name: a name with a slip or two is recognized, a different word is not', () => {
  const names = ['Meta – EU pixel', 'Warehouse', 'destination:list', 'destination:find'];
  const cases = ['meta - EU pixel', 'Warehuose', 'destination:lst', 'Braze', 'x', ''];
  expect(cases.map((written) => closestName(written, names))).toEqual([
    'Meta – EU pixel',
    'Warehouse',
    'destination:list',
    undefined,
    undefined,
    undefined,
  ]);
  expect(didYouMean('Warehuose', names)).toBe('; did you mean Warehouse?');
  expect(didYouMean('Braze', names)).toBe('');
});

test('local stack: variables that are not set are taken from the stack, unless the set variables name other servers', async () => {
  const shell = { SLUICE_DIR: folder, PATH: '/bin' };
  expect(besideStack(shell)).toBe(shell);
  const stack = { NATS_URL: 'nats://127.0.0.1:1', DATABASE_URL: 'postgres://a', SECRETS_KEY_FILE: '/key' };
  await writeStackEnvironment(folder, stack);
  expect(besideStack(shell)).toEqual({ ...shell, ...stack });
  const own = { ...shell, NATS_URL: stack.NATS_URL, SECRETS_KEY: 'own' };
  expect(besideStack(own)).toEqual({ ...own, DATABASE_URL: stack.DATABASE_URL });
  for (const other of [{ NATS_URL: 'nats://elsewhere' }, { DATABASE_URL_FILE: '/run/url' }]) {
    expect(besideStack({ ...shell, ...other })).toEqual({ ...shell, ...other });
  }
  removeStackEnvironment(folder);
  expect(besideStack(shell)).toBe(shell);
});

test('faults of a command: each fault is one line, with what to do about a known fault', () => {
  const failed = (fields: object): Error => Object.assign(new Error('as the driver says it'), fields);
  expect(faultsOf(new EnvError(['A is wrong', 'B is wrong']))).toEqual(['A is wrong', 'B is wrong']);
  expect(faultsOf(new Error('select …', { cause: failed({ code: '42P01' }) }))).toEqual([
    'the database has no tables of Sluice; npm run migrate creates them',
  ]);
  expect(faultsOf(failed({ code: 'ENOENT', path: 'nofile.csv' }))).toEqual(['there is no file nofile.csv']);
  expect(faultsOf(failed({}))).toEqual(['as the driver says it']);
});
