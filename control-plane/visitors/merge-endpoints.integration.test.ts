import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../shared/visitors/visitor-identity.ts';
import { VisitorProperties } from '../../shared/visitors/visitor-properties.ts';
import type { VisitorOutcome, VisitorStore } from '../../shared/visitors/visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createAnnounceRefusals } from './announce-refusals.ts';

let plane: TestControlPlane;
let pool: Pool;
/** A resolver's store of visitors. Its cache lives as long as the file's tests. */
let visitors: VisitorStore;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
  visitors = createVisitorStore(pool);
});
beforeEach(async () => {
  client = await plane.newAccount();
});
afterAll(async () => {
  await pool?.end();
  await plane?.stop();
});

async function touch(
  claim: Partial<VisitorClaim>,
  given = {},
  { accountId } = client,
): Promise<VisitorOutcome | undefined> {
  const full = { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim };
  const event = { id: 'e1', sourceId: 'web' };
  const { outcomes } = await visitors.resolve([
    { accountId, claim: full, receivedAtMs: Date.now(), given: [given], sentWith: 'server', event },
  ]);
  return outcomes[0];
}

test('visitor merges: listed page by page under any id of the visitor, audited, and only with the scope', async () => {
  await touch({ userId: 'p', externalIds: ['x'] }, { city: 'Bern' });
  for (const device of ['d1', 'd2', 'd3']) {
    await touch({ userId: device }, { city: device });
    await touch({ userId: device, externalIds: ['x'] });
  }
  const { body } = await client.get('/visitors/d2/merges?limit=2');
  expect(body.entities).toMatchObject([
    {
      survivorId: 'p',
      loserId: 'd3',
      cause: { kind: 'signIn', identifier: 'externalId', eventId: 'e1', sourceId: 'web' },
      loserProperties: { city: 'd3' },
      overwritten: ['city'],
      undoneAt: null,
      undoneBy: null,
    },
    { loserId: 'd2' },
  ]);
  const next = await client.get(`/visitors/d2/merges?limit=2&cursor=${body.pagination.nextCursor}`);
  expect(next.body).toMatchObject({ entities: [{ loserId: 'd1' }], pagination: { hasMore: false } });
  const audit = await client.get('/audit?action=visitor.read');
  expect(audit.body.entities).toHaveLength(2);
  expect(audit.body.entities[0].details).toEqual({ by: 'merges', isFound: true, scope: 'all' });
  const other = await plane.newAccount();
  expect((await other.get('/visitors/d2/merges')).status).toBe(404);
  expect((await (await plane.newKey(client, ['visitor:delete'])).get('/visitors/d2/merges')).status).toBe(403);
});

test('visitor merges: where the account masks, a key without pii:read sees no value of a merge', async () => {
  await touch({ userId: 'p', externalIds: ['x'] });
  await touch({ userId: 'd' }, { city: 'canary' });
  await touch({ userId: 'd', externalIds: ['x'] });
  await client.patch('/account', { masksPersonalData: true });
  const read = async (scopes: readonly string[]): Promise<string> =>
    JSON.stringify((await (await plane.newKey(client, scopes)).get('/visitors/p/merges')).body);
  expect(await read(['visitor:find', 'pii:read'])).toContain('"city":"canary"');
  expect(await read(['visitor:find'])).toContain('"city":"aaaaaa"');
});

test('visitor merges: the API merges two known people and splits them again, only in its own account, and both are audited', async () => {
  const other = await plane.newAccount();
  for (const account of [client, other]) {
    await touch({ userId: 'ann', externalIds: ['x1'], emails: ['ann@example.com'] }, { city: 'Bern' }, account);
    await touch({ userId: 'bob', externalIds: ['x2'] }, { city: 'Oslo' }, account);
  }
  const answer = await client.call('POST', '/visitors/bob/merge', { body: { visitorId: 'ann' } });
  expect([answer.status, answer.body]).toEqual([
    200,
    { mergeId: expect.any(String), survivorId: 'ann', loserId: 'bob' },
  ]);
  const { mergeId } = answer.body;
  expect(await touch({ externalIds: ['x2'] })).toMatchObject({ id: 'ann', properties: { value: { city: 'Oslo' } } });
  expect((await other.get('/visitors/bob')).body).toMatchObject({ id: 'bob', properties: { city: 'Oslo' } });
  expect((await client.call('POST', '/visitors/bob/merge', { body: { visitorId: 'ann' } })).status).toBe(409);
  expect((await other.call('POST', '/visitors/bob/split', { body: { mergeId } })).status).toBe(404);

  const undone = await client.call('POST', '/visitors/bob/split', { body: { mergeId } });
  expect([undone.status, undone.body]).toEqual([200, { survivorId: 'ann', loserId: 'bob', takenIdentities: [] }]);
  expect(await touch({ externalIds: ['x2'] })).toMatchObject({ id: 'bob', properties: { value: { city: 'Oslo' } } });
  expect(await touch({ emails: ['ann@example.com'] })).toMatchObject({
    id: 'ann',
    properties: { value: { city: 'Bern', external_id: 'x1' } },
  });
  const again = await client.call('POST', '/visitors/ann/split', { body: { mergeId } });
  expect([again.status, again.body.error]).toEqual([409, 'mergeId: the merge was undone already']);
  const { body } = await client.get('/visitors/bob/merges');
  expect(body.entities).toMatchObject([{ id: mergeId, cause: { kind: 'api' }, undoneAt: expect.any(String) }]);
  expect(body.entities[0].undoneBy).toBe(body.entities[0].cause.principal);
  for (const action of ['visitor.merge', 'visitor.split']) {
    expect((await client.get(`/audit?action=${action}`)).body.entities).toHaveLength(2);
    for (const id of ['ann', 'bob'])
      expect((await client.get(`/audit?action=${action}&visitorId=${id}`)).body.entities).toHaveLength(1);
  }
});

test('visitor merges: what one of the two has denied is announced for every id of both, and nothing else is', async () => {
  for (const id of ['person', 'alias', 'device', 'other']) await touch({ userId: id });
  await touch({ userId: 'alias' }, { consent: { news: true } });
  await touch({ userId: 'person' }, { consent: { ads: false, news: true, $gpc: true } });
  const log = followErasures({ connection: plane.log, onError: (error) => expect.unreachable(String(error)) });
  const wordsOf = (visitorId: string) => {
    const words = log.lastWords(client.accountId, { visitorId, receivedAtMs: Date.now() });
    return ['ads', '$gpc', 'news'].filter((name) => words?.get(name)?.isDenial === true);
  };
  try {
    const merge = (id: string) => client.call('POST', `/visitors/device/merge`, { body: { visitorId: id } });
    expect((await merge('alias')).status).toBe(200);
    expect((await merge('person')).status).toBe(200);
    await expect.poll(() => wordsOf('device')).toEqual(['ads', '$gpc']);
    expect(['person', 'alias', 'other'].map(wordsOf)).toEqual([['ads', '$gpc'], ['ads', '$gpc'], []]);
  } finally {
    await log.stop();
  }
});

test('visitor merges: if the log does not take what was denied, the merge stays and a warning says so', async () => {
  await touch({ userId: 'person' }, { consent: { ads: false } });
  const connection = await connectLog({ url: plane.nats.url, name: 'closed' });
  await connection.close();
  const warn = vi.fn<(fields: object, text?: string) => void>();
  const announce = createAnnounceRefusals({ connection, pool, logger: { warn }, now: () => new Date() });
  const properties = new VisitorProperties({ consent: { ads: false } });
  await announce(client.accountId, { survivor: 'person', properties });
  await announce(client.accountId, {
    survivor: 'person',
    properties: new VisitorProperties({ consent: { ads: true } }),
  });
  expect(warn.mock.calls).toEqual([[{ err: expect.any(Error) }, expect.stringContaining('next event')]]);
});

test('visitor merges: a merged visitor keeps to VISITOR_BYTES_MAX, as one that events make', async () => {
  const bytes = 20 * 1024;
  for (const id of ['ann', 'bob']) await touch({ userId: id }, { custom_properties: { [id]: 'x'.repeat(bytes) } });
  const refused = await client.call('POST', '/visitors/ann/merge', { body: { visitorId: 'bob' } });
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('too large')]);
  const wide = await plane.startAnother({ VISITOR_BYTES_MAX: 64 * 1024 });
  const answer = await fetch(`${wide.baseUrl}/rest/v1/visitors/ann/merge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ visitorId: 'bob' }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([200, { survivorId: 'ann' }]);
});

test.each([
  ['into a visitor that was merged itself', ['bob', 'ann'], ['eve', 'bob']],
  ['before another visitor', ['eve', 'ann'], ['eve', 'bob']],
] as const)(
  'visitor merges: an erased visitor that was merged %s leaves nothing once both merges are undone',
  async (_, ...merges) => {
    for (const id of ['eve', 'bob', 'ann']) {
      const email = `${id}@example.com`;
      await touch({ userId: id, externalIds: [`x-${id}`], emails: [email] }, { email, first_name: `${id}-canary` });
    }
    const made: { readonly mergeId: string; readonly loserId: string }[] = [];
    for (const [one, other] of merges) {
      const { body } = await client.call('POST', `/visitors/${one}/merge`, { body: { visitorId: other } });
      made.unshift(body);
    }
    for (const { mergeId, loserId } of made) {
      expect((await client.call('POST', `/visitors/${loserId}/split`, { body: { mergeId } })).status).toBe(200);
    }
    expect((await client.delete('/visitors/ann')).status).toBe(200);
    const { rows } = await pool.query('select m::text as text from visitor_merges m where account_id = $1', [
      client.accountId,
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0].text).not.toMatch(/ann/);
    const { body } = await client.get('/visitors/bob/merges');
    expect(body.entities).toMatchObject([
      { loserId: 'bob', loserProperties: {}, overwritten: [], undoneAt: expect.any(String) },
    ]);
  },
);

test.each([
  ['merge', { visitorId: 'nobody' }, 404, 'visitorId not found'],
  ['merge', { visitorId: '' }, 400, 'visitorId'],
  ['merge', {}, 400, 'visitorId'],
  ['merge', { visitorId: 'ann', into: 'ann' }, 400, 'into'],
  ['split', { mergeId: '1' }, 400, 'mergeId'],
  ['split', { mergeId: '00000000-0000-0000-0000-000000000000' }, 404, 'mergeId not found'],
])('visitor merges: %s with %j is a %i that names the field', async (action, body, status, error) => {
  await touch({ userId: 'ann' });
  const answer = await client.call('POST', `/visitors/ann/${action}`, { body });
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(error)]);
  const reader = await plane.newKey(client, ['visitor:find', 'visitor:delete']);
  expect((await reader.call('POST', `/visitors/ann/${action}`, { body })).status).toBe(403);
});
