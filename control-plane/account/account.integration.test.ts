import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { withoutSignature } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const defaults = {
  emailIdentifies: true,
  externalIdsMax: 1,
  emailsMax: 1_000,
  userIdsMax: 1_000,
  priority: ['externalId', 'userId', 'email'],
  blockedValues: [],
  publicKeysOverwrite: false,
};

test('account identity: changes field by field and is live at once without a version; null restores the default', async () => {
  const client = await plane.newAccount();
  expect((await client.get('/account')).body.identity).toEqual(defaults);
  // Before the first publish no service reads the account's settings.
  expect((await client.patch('/account', { identity: { externalIdsMax: 2 } })).status).toBe(200);
  await client.post('/sources', { type: 'NodejsApi' });
  const { body: version } = await client.post('/versions', { publish: true });
  const { config: bucket } = await openBuckets(plane.log, 1);
  const published = async () => {
    const value = (await bucket.get(accountKey(client.accountId)))?.value;
    return decodeAccountConfig(withoutSignature(value ?? new Uint8Array()));
  };
  expect((await published()).identity).toEqual({ ...defaults, externalIdsMax: 2 });
  const priority = ['externalId', 'email', 'userId'];
  const changed = { blockedValues: ['House'], externalIdsMax: null, priority };
  const { body } = await client.patch('/account', { identity: changed });
  expect(body.identity).toEqual({ ...defaults, blockedValues: ['House'], priority });
  expect(await published()).toMatchObject({ versionId: version.id, identity: body.identity });
  expect((await client.get('/account')).body).toEqual(body);
  const { body: audit } = await client.get('/audit?action=account.update');
  expect(audit.entities.map(({ details }: { details: unknown }) => details)).toEqual([
    { fields: ['identity.externalIdsMax', 'identity.priority', 'identity.blockedValues'] },
    { fields: ['identity.externalIdsMax'] },
  ]);
  expect(JSON.stringify(audit)).not.toContain('House');
});

test.each([
  [{ externalIdsMax: 0 }, /^identity\.externalIdsMax must be/],
  [{ externalIdsMax: 11 }, /^identity\.externalIdsMax must be/],
  [{ emailIdentifies: 'no' }, /^identity\.emailIdentifies must be true or false/],
  [{ publicKeysOverwrite: 1 }, /^identity\.publicKeysOverwrite must be true or false/],
  [{ blockedValues: 'guest' }, /^identity\.blockedValues must be/],
  [{ blockedValues: ['ok', '[ ]'] }, /^identity\.blockedValues\[1\] has only spaces/],
  [{ blockedValues: ['x'.repeat(101)] }, /^identity\.blockedValues\[0\] must/],
  [{ emailsMax: 0 }, /^identity\.emailsMax must be/],
  [{ userIdsMax: 1_001 }, /^identity\.userIdsMax must be/],
  [{ priority: ['email'] }, /^identity\.priority must/],
  [{ priority: ['email', 'email', 'userId'] }, /^identity\.priority must/],
  [{ priority: ['email', 'externalId', 'phone'] }, /^identity\.priority\[2\] must be/],
  [{ priority: ['userId', 'externalId', 'email'] }, /^identity\.priority: externalId must come before userId/],
  [{ kinds: ['email'] }, /identity\.kinds is not a known field/],
])('account identity: %j is refused with the name of its field', async (identity, problem) => {
  const client = await plane.newAccount();
  const { status, body } = await client.patch('/account', { identity });
  expect([status, body.error]).toEqual([400, expect.stringMatching(problem)]);
});

test('account identity: a read and a change each need their own scope', async () => {
  const client = await plane.newAccount();
  const reader = await plane.newKey(client, ['account:find']);
  expect((await reader.get('/account')).status).toBe(200);
  expect((await reader.patch('/account', { identity: { externalIdsMax: 2 } })).status).toBe(403);
});
