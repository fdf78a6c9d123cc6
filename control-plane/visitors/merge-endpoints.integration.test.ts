import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../shared/visitors/visitor-identity.ts';
import type { VisitorOutcome, VisitorStore } from '../../shared/visitors/visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let pool: Pool;
/** A resolver's, whose cache lives on from test to test. */
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
  expect(audit.body.entities[0].details).toEqual({ by: 'merges', isFound: true });
  const other = await plane.newAccount();
  expect((await other.get('/visitors/d2/merges')).status).toBe(404);
  expect((await (await plane.newKey(client, ['visitor:delete'])).get('/visitors/d2/merges')).status).toBe(403);
});
