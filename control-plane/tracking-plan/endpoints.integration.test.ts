import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { withoutSignature } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let pool: Pool;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
});
beforeEach(async () => {
  client = await plane.newAccount();
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

const hourMs = 3_600_000;

async function addViolations(own: JsonObject, hoursAgo = 0, of = client): Promise<void> {
  const at = new Date(Math.floor(Date.now() / hourMs) * hourMs - hoursAgo * hourMs);
  const row = {
    rule: 'r1',
    event: 'E',
    source_id: 's1',
    app_version: '1',
    action: 'Omit',
    severity: 'Warning',
    count: 3,
    ...own,
  };
  await pool.query(
    `insert into violations
      (account_id, hour, rule, event, source_id, app_version, action, severity, count, first_at, last_at, sample)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $2, $2, 'event_properties.x: 999')`,
    [of.accountId, at, row.rule, row.event, row.source_id, row.app_version, row.action, row.severity, row.count],
  );
}

async function addEvent(id: string, own: JsonObject = {}): Promise<void> {
  const row = { name: 'E', visitor_id: 'v', plan: null, properties: {}, source_id: 's1', truncated: false, ...own };
  const body = {
    event_properties: row.properties,
    context: {},
    visitor: {},
    ...(row.truncated ? { truncated: true } : {}),
  };
  await pool.query(
    `insert into recent_events
      (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, body, plan)
      values ($1, $2, now(), now(), $3, $4, $5, false, 1, 1, $6, $7)`,
    [client.accountId, id, row.source_id, row.name, row.visitor_id, body, row.plan],
  );
}

const addRule = async (own: JsonObject): Promise<string> => {
  const { body, status } = await client.post('/collections/dataGovernanceRules', { type: 'Forbidden', ...own });
  expect([status, body]).toEqual([200, body]);
  return body.id;
};

test('violations: lists the largest groups of 24 hours and of 7 days, filtered by event, rule, source and severity', async () => {
  await addViolations({});
  await addViolations({}, 2);
  await addViolations({ rule: 'r2', event: 'F', source_id: 's2', severity: 'Error', count: 10 }, 30);
  await addViolations({ count: 1_000 }, 0, await plane.newAccount());
  const read = async (query: string) => {
    const { body, status } = await client.get(`/violations${query}`);
    expect(status).toBe(200);
    const groups = body.entities as { rule: string; event: string; count: number; sample: string }[];
    return [body.total, ...groups.map(({ rule, event, count }) => `${rule} ${event} ${count}`)];
  };
  expect(await read('')).toEqual([6, 'r1 E 6']);
  expect(await read('?range=7d')).toEqual([16, 'r2 F 10', 'r1 E 6']);
  expect(await read('?range=7d&limit=1')).toEqual([16, 'r2 F 10']);
  for (const query of ['rule=r2', 'event=F', 'sourceId=s2', 'severity=Error']) {
    expect(await read(`?range=7d&${query}`)).toEqual([10, 'r2 F 10']);
  }
  const from = new Date(Date.now() - 40 * hourMs).toISOString();
  const to = new Date(Date.now() - 20 * hourMs).toISOString();
  expect(await read(`?from=${from}&to=${to}`)).toEqual([10, 'r2 F 10']);
  expect((await client.get(`/violations?from=${from}`)).body.error).toBe(
    'to is required: from and to must be given together',
  );
  const { body } = await client.get('/violations');
  expect(body.entities[0]).toMatchObject({
    ruleName: null,
    ruleCollection: null,
    sample: 'event_properties.x: 999',
    severity: 'Warning',
  });
  const narrow = await plane.newKey(client, ['event:list']);
  expect((await narrow.get('/violations')).status).toBe(403);
});

test('trial of a tracking plan: shows what the draft would have made of recent events, with samples that show no value', async () => {
  await client.post('/collections/dataGovernanceEvents', { name: 'E', status: 'Approved' });
  const holds = await addRule({
    name: 'No cards',
    property: 'event_properties.card',
    action: 'Quarantine',
    severity: 'Error',
  });
  const visitors = await addRule({ name: 'No mail', property: 'visitor.email', action: 'Omit' });
  await addEvent('a', { properties: { card: '4111-1111' } });
  await addEvent('b', { properties: { other: 1 } });
  await addEvent('c', { name: 'F' });
  await addEvent('d', { name: '$identify', properties: { card: 1 } });
  await addEvent('cut', { truncated: true });
  await addEvent('held', { visitor_id: '', plan: { outcome: 'quarantined', rules: [] } });
  const { body, status } = await client.post('/tracking-plan/try', {
    unknownEvents: { action: 'Drop', severity: 'Error' },
    unknownProperties: { action: 'Omit', severity: 'Info' },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    rules: 'draft',
    tried: 4,
    skipped: 2,
    isComplete: true,
    passed: 0,
    changed: 1,
    quarantined: 2,
    dropped: 1,
    untriedRules: [visitors],
  });
  const cards = body.byRule.find(({ rule }: { rule: string }) => rule === holds);
  expect(cards).toMatchObject({
    ruleName: 'No cards',
    ruleCollection: 'dataGovernanceRules',
    action: 'Quarantine',
    severity: 'Error',
    events: 2,
  });
  expect(cards.samples).toContainEqual({ eventId: 'a', event: 'E', sample: 'event_properties.card: 9999-9999' });
  expect(JSON.stringify(body)).not.toContain('4111');
  // The live version has none of the rules. `event` and `limit` narrow a trial.
  expect((await client.post('/tracking-plan/try', { rules: 'live' })).body).toMatchObject({ tried: 4, passed: 4 });
  expect((await client.post('/tracking-plan/try', { event: 'F' })).body).toMatchObject({ tried: 1, passed: 1 });
  expect((await client.post('/tracking-plan/try', { limit: 1 })).body.tried).toBeLessThanOrEqual(1);
});

test('account: the handling of unknown events and properties is set without a version, and is live at once', async () => {
  const usual = {
    unknownEvents: { action: 'Report', severity: 'Warning' },
    unknownProperties: { action: 'Report', severity: 'Info' },
  };
  expect((await client.get('/account')).body).toMatchObject(usual);
  expect((await client.patch('/account', { unknownEvents: { action: 'Omit', severity: 'Info' } })).status).toBe(400);
  await client.post('/collections/dataGovernanceEvents', { name: 'E', status: 'Approved' });
  expect((await client.post('/versions', { publish: true })).status).toBe(200);
  const { config } = await openBuckets(plane.log, 1);
  const live = async () => {
    const entry = await config.get(accountKey(client.accountId));
    return decodeAccountConfig(withoutSignature(entry?.value ?? new Uint8Array())).planSettings;
  };
  expect(await live()).toBeUndefined();
  const unknownEvents = { action: 'Quarantine', severity: 'Error' };
  expect((await client.patch('/account', { unknownEvents })).body).toMatchObject({ ...usual, unknownEvents });
  expect(await live()).toEqual({ ...usual, unknownEvents });
  const { body } = await client.get('/audit');
  expect(body.entities[0]).toMatchObject({ action: 'account.update', details: { fields: ['unknownEvents'] } });
});

test('recent events: an event says in words what the tracking plan did with it', async () => {
  const rules = [{ rule: 'r1', action: 'Quarantine', property: 'event_properties.card' }];
  await addEvent('held', { visitor_id: '', plan: { outcome: 'quarantined', rules } });
  await addEvent('passed');
  const { body } = await client.get('/events?plan=quarantined');
  expect(body.entities).toHaveLength(1);
  expect(body.entities[0]).toMatchObject({
    id: 'held',
    visitorId: '',
    plan: { outcome: 'quarantined', rules, reason: 'It was quarantined. Rule r1 on event_properties.card.' },
  });
  expect((await client.get('/events/passed')).body.plan).toBeNull();
  const { body: counts } = await client.get('/events/counts');
  expect(counts.counts.map(({ events }: { events: number }) => events)).toEqual([1]);
});
