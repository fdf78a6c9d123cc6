import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namesFileVariable } from '../../machine/env.ts';
import { compiledPath } from '../../../shared/runtime/compiled-path.ts';
import { stackName } from './stack-names.ts';

// Looks names up in the three ways that services use: a client's socket, the log's client, and the egress guard.
const program = `
  import { lookup, promises, resolve4, resolve6 } from 'node:dns';
  const ask = (look, ...args) => new Promise((done) => look(...args, (error, found) => done(error?.code ?? found)));
  console.log(JSON.stringify(await Promise.all([
    ask(lookup, '${stackName('log')}', {}),
    ask(lookup, '${stackName('log')}', { all: true }),
    ask(resolve4, '${stackName('database')}'),
    ask(resolve6, '${stackName('database')}'),
    promises.lookup('${stackName('destination')}').catch((error) => error.code),
    ask(lookup, 'localhost', { family: 4 }),
  ])));`;
const here = '127.0.0.1';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-names-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function askWhile(state: string): Promise<unknown> {
  const file = join(folder, 'names');
  await writeFile(file, state);
  const preload = ['--import', compiledPath(new URL('./movable-names.ts', import.meta.url))];
  const args = [...preload, '--input-type=module', '-e', program];
  const env = { PATH: process.env['PATH'], [namesFileVariable]: file };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

test('movable names: names of the stack resolve to 127.0.0.1, or fail while the name server is gone; other names resolve as usual', async () => {
  expect(await askWhile('known')).toEqual([
    here,
    [{ address: here, family: 4 }],
    [here],
    'EAI_AGAIN',
    { address: here, family: 4 },
    here,
  ]);
  expect(await askWhile('gone')).toEqual(['EAI_AGAIN', 'EAI_AGAIN', 'EAI_AGAIN', 'EAI_AGAIN', 'EAI_AGAIN', here]);
});
