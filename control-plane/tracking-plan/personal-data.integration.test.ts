import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openTestPool } from '../../shared/testing/test-pool.ts';
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

async function addFinding(event: string, property: string, kind: string, of = client): Promise<void> {
  await pool.query(
    `insert into personal_data values ($1, $2, $3, $4, 'shape', 40, 39, '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '=aa@aa.aa')`,
    [of.accountId, event, property, kind],
  );
}

const states = async (query = ''): Promise<readonly string[]> => {
  const { body, status } = await client.get(`/personal-data${query}`);
  expect(status).toBe(200);
  return body.entities.map(({ property, state }: { property: string; state: string }) => `${property} ${state}`);
};

test('personal data: findings of the account are listed with a proposal, also as CSV that no spreadsheet runs', async () => {
  await addFinding('Signup', 'event_properties.contact', 'email');
  await addFinding('*', 'visitor.custom_properties.allergy', 'health');
  await addFinding('Signup', 'event_properties.other', 'email', await plane.newAccount());
  const { body } = await client.get('/personal-data');
  expect(body.entities).toEqual([
    expect.objectContaining({
      event: '*',
      property: 'visitor.custom_properties.allergy',
      proposal: 'Omit',
      state: 'open',
    }),
    {
      event: 'Signup',
      property: 'event_properties.contact',
      kind: 'email',
      basis: 'shape',
      state: 'open',
      seen: 40,
      matched: 39,
      shape: '=aa@aa.aa',
      proposal: 'Redact',
      firstAt: '2026-11-01T00:00:00.000Z',
      lastAt: '2026-11-02T00:00:00.000Z',
    },
  ]);
  const settings = { httpDestinationUrl: 'https://example.com/' };
  await client.post('/destinations', { type: 'HTTPDestination', name: 'Own', settings });
  const { id } = await client.publish();
  const report = (await client.get(`/versions/${id}/privacy-report`)).body.rows as Record<string, unknown>[];
  expect(report.map(({ event, property, personal }) => [event, property, personal])).toEqual([
    ['*', '*', null],
    ['Signup', 'contact', 'email'],
    ['Signup', '*', null],
  ]);
  const csv = await fetch(`${plane.baseUrl}/rest/v1/personal-data?format=csv`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(csv.headers.get('content-type')).toContain('text/csv');
  const lines = (await csv.text()).split('\r\n');
  expect(lines[0]).toBe('event,property,kind,basis,state,seen,matched,shape,firstAt,lastAt');
  expect(lines[2]).toContain(`"Signup","event_properties.contact","email","shape","open","40","39","'=aa@aa.aa"`);
});

test('personal data: a proposal becomes a rule in the draft, and the property is covered once the rule is published', async () => {
  await addFinding('Signup', 'event_properties.contact', 'email');
  await addFinding('*', 'default_properties.current_url', 'email');
  for (const finding of [
    { event: 'Signup', property: 'event_properties.contact' },
    { event: '*', property: 'default_properties.current_url', action: 'Omit' },
  ]) {
    const { body, status } = await client.post('/personal-data/propose', finding);
    expect([status, body.collection]).toEqual([200, 'dataGovernanceRules']);
    const rule = await client.get(`/collections/dataGovernanceRules/${body.id}`);
    expect(rule.body).toMatchObject({
      eventName: finding.event === '*' ? null : finding.event,
      property: finding.property,
      type: 'Forbidden',
      action: finding.action ?? 'Redact',
    });
  }
  expect(new Set((await states()).map((line) => line.split(' ')[1]))).toEqual(new Set(['drafted']));
  expect((await client.post('/versions', { publish: true })).status).toBe(200);
  expect(await states('?state=covered')).toHaveLength(2);
  expect(await states('?state=open')).toEqual([]);
});

test('personal data: a destination without mappings gets a hashing mapping that keeps the rest; a destination with mappings is refused', async () => {
  await addFinding('Signup', 'event_properties.contact', 'email');
  await addFinding('Signup', 'event_properties.billing.phone', 'phone');
  const settings = { httpDestinationUrl: 'https://example.com/events' };
  const { body: made } = await client.post('/destinations', { type: 'HTTPDestination', name: 'Hooks', settings });
  const contact = { event: 'Signup', property: 'event_properties.contact', destinationId: made.id };
  const { body } = await client.post('/personal-data/propose', { ...contact, action: 'Hash' });
  expect((await client.get(`/collections/mappings/${body.id}`)).body).toMatchObject({
    destinationId: made.id,
    logic: { condition: { property: 'event.event', operator: 'Is', value: 'Signup' } },
    mappings: [{ property: 'contact', map: '{{event.event_properties.contact}}', modification: 'HashedNormalized' }],
    others: 'keep',
  });
  const again = await client.post('/personal-data/propose', { ...contact, action: 'Encrypt' });
  expect([again.status, again.body.error]).toEqual([409, expect.stringContaining('has mappings')]);
  const refused: readonly (readonly [object, string])[] = [
    [{ ...contact, action: 'Redact' }, 'destinationId'],
    [{ event: 'Signup', property: 'event_properties.contact', action: 'Hash' }, 'destinationId'],
    [{ ...contact, property: 'event_properties.billing.phone', action: 'Hash' }, 'action'],
  ];
  for (const [given, field] of refused) {
    const { status, body: answer } = await client.post('/personal-data/propose', given);
    expect([status, answer.error]).toEqual([400, expect.stringContaining(field)]);
  }
  expect((await client.post('/personal-data/propose', { event: 'x', property: 'y' })).status).toBe(404);
});

test('personal data: a property marked as not personal stays so until the mark is removed', async () => {
  await addFinding('Signup', 'event_properties.contact', 'email');
  const contact = { event: 'Signup', property: 'event_properties.contact' };
  expect((await client.patch('/personal-data', { ...contact, isPersonal: false })).status).toBe(200);
  expect(await states()).toEqual(['event_properties.contact dismissed']);
  expect((await client.patch('/personal-data', { ...contact, isPersonal: true })).status).toBe(200);
  expect(await states()).toEqual(['event_properties.contact open']);
  expect((await client.patch('/personal-data', { event: 'x', property: 'y', isPersonal: true })).status).toBe(404);
});

test('personal data: a property stays open while one destination gets its plain value', async () => {
  await addFinding('Signup', 'event_properties.contact', 'email');
  const settings = { httpDestinationUrl: 'https://example.com/events' };
  const ids: string[] = [];
  for (const name of ['One', 'Two']) {
    const { body } = await client.post('/destinations', { type: 'HTTPDestination', name, settings, status: 'Enabled' });
    ids.push(body.id);
  }
  const mapping = (destinationId: string) => ({
    destinationId,
    mappings: [{ property: 'contact', map: '{{event.event_properties.contact}}', modification: 'HashedNormalized' }],
    others: 'keep',
  });
  await client.post('/collections/mappings', mapping(ids[0] ?? ''));
  expect(await states()).toEqual(['event_properties.contact open']);
  await client.post('/collections/mappings', mapping(ids[1] ?? ''));
  expect(await states()).toEqual(['event_properties.contact drafted']);
});
