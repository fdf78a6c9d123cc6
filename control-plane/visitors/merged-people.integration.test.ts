import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { eraseFor } from '../../shared/testing/visitors.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorTouch } from '../../shared/visitors/visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { listMergedPeople } from './merged-people.ts';

let plane: TestControlPlane;
let client: Client;
let pool: Pool;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
  pool = openTestPool(plane.databaseUrl, 4);
});
afterAll(async () => {
  await pool?.end();
  await plane?.stop();
});

const person = (...externalIds: readonly string[]): VisitorTouch => ({
  accountId: client.accountId,
  claim: { userId: undefined, externalIds, emails: [], anonymousId: undefined, isAlias: externalIds.length > 1 },
  receivedAtMs: Date.now(),
  given: [{ external_id: externalIds.at(-1) }],
  sentWith: 'server',
});

/** The command as an operator runs it, with the rights of a control plane. */
async function run(...options: readonly string[]) {
  const entry = compiledPath(new URL('../visitors-cli.ts', import.meta.url));
  const env = { PATH: process.env['PATH'], DATABASE_URL: plane.env.DATABASE_URL };
  return promisify(execFile)(process.execPath, [entry, 'merged', '--account', client.accountId, ...options], { env });
}

test('merged people: only visitors with more than one externalId are listed', async () => {
  expect((await run()).stdout).toBe('No visitor of the account has more than one externalId.\n');
  const store = createVisitorStore(pool);
  const names = Array.from({ length: 10 }, (_, n) => `p-${n}`);
  await store.resolve(names.map((name) => person(name)));
  await store.resolve([person('p-1', 'p-2'), person('p-7', 'new-7'), person('p-3', 'p-2')]);
  await store.resolve([person('p-4', 'p-5')]);
  const erased = await store.find(client.accountId, { externalId: 'p-4' });
  await eraseFor(pool, { accountId: client.accountId, id: erased?.id ?? '' });

  const expected = await Promise.all(['p-1', 'p-7'].map((externalId) => store.find(client.accountId, { externalId })));
  for (const rowsPerRead of [1, 2, 3, 100]) {
    const { people, isCutShort } = await listMergedPeople(pool, client.accountId, { peopleMax: 10, rowsPerRead });
    expect(isCutShort).toBe(false);
    const found = people.map(({ id, externalIds }) => ({ id, externalIds: externalIds.toSorted() }));
    const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
    expect(found.toSorted(byId)).toEqual(
      expected.map((one) => ({ id: one?.id ?? '', externalIds: one?.externalIds.toSorted() ?? [] })).toSorted(byId),
    );
  }
  expect(expected[0]?.externalIds.toSorted()).toEqual(['p-1', 'p-2', 'p-3']);

  const { stdout } = await run();
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(stdout).toContain('2 visitors have more than one externalId.');
  const asJson = JSON.parse((await run('--json')).stdout) as { accountId: string; people: { id: string }[] };
  expect(asJson).toMatchObject({ accountId: client.accountId, isCutShort: false });
  expect(asJson.people.map(({ id }) => id).toSorted()).toEqual(expected.map((one) => one?.id ?? '').toSorted());
  expect((await run('--limit', '1')).stdout).toContain('1 visitor has more than one externalId; the account has more');
});

test('merged people: an account that is not there is named', async () => {
  const failed = run('--account', '00000000-0000-4000-8000-000000000000').catch((error: { stderr: string }) => error);
  expect((await failed).stderr).toBe('visitors: --account: there is no account 00000000-0000-4000-8000-000000000000\n');
});
