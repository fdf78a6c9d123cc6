import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { until } from '../../../shared/testing/until.ts';
import type { PersonalFinding } from './personal-data.ts';
import { accountFindingsMax, createPersonalDataStore } from './personal-data-writer.ts';
import { createResolverRig } from './testing/resolver-rig.ts';
import type { ResolverRig } from './testing/resolver-rig.ts';

let nats: NatsServer;
let database: TestDatabase;
let rig: ResolverRig;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  rig = await createResolverRig(nats.url, database.url);
});
afterAll(async () => {
  await rig?.close();
  await nats?.stop();
  await database?.drop();
});

const rowsOf = async (account: string): Promise<readonly object[]> => {
  const { rows } = await rig.ownerPool.query<object>(
    'select event, property, kind, basis, seen::int, matched::int, shape from personal_data where account_id = $1 order by 1, 2',
    [account],
  );
  return rows;
};

test('personal data: personal data in resolved events is recorded for its own account, without a value in any column', async () => {
  const account = randomUUID();
  const resolver = await rig.start(0);
  const body = {
    event: 'Signup',
    eventProperties: { email: 'canary@example.com', plan: 'free' },
    userProperties: { custom_properties: { allergies: 'canary nuts' } },
  };
  const ids = [1, 2, 3, 4].map((n) => `e${n}`);
  await rig.send(
    0,
    ids.map((id) => ({ id, account, body })),
  );
  await until('they are resolved', async () => (await rig.written(account)).length === ids.length);
  await resolver.stop(5_000);
  const rows = await rowsOf(account);
  expect(rows).toEqual([
    {
      event: '*',
      property: 'visitor.custom_properties.allergies',
      kind: 'health',
      basis: 'name',
      seen: 4,
      matched: 4,
      shape: 'aaaaaa aaaa',
    },
    {
      event: 'Signup',
      property: 'event_properties.email',
      kind: 'email',
      basis: 'both',
      seen: 4,
      matched: 4,
      shape: 'aaaaaa@aaaaaaa.aaa',
    },
  ]);
});

test('personal data: counts of several writers add up, and an account has no more findings than its bound', async () => {
  const accountId = randomUUID();
  const store = createPersonalDataStore(rig.pool);
  const finding = (n: number): PersonalFinding => ({
    accountId,
    event: 'E',
    property: `event_properties.p${n}`,
    kind: 'email',
    basis: 'shape',
    seen: 2,
    matched: 1,
    firstAtMs: 1,
    lastAtMs: 2,
    shape: 'a',
  });
  await store.write([finding(0)]);
  await store.write([finding(0)]);
  expect(await rowsOf(accountId)).toMatchObject([{ seen: 4, matched: 2 }]);
  await store.write(Array.from({ length: accountFindingsMax + 50 }, (_, n) => finding(n)));
  expect(await rowsOf(accountId)).toHaveLength(accountFindingsMax);
});
