import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import { encodeDeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import { deadLetterSubject, quarantineSubject } from '../../shared/contracts/subjects.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from './client.ts';
import type { TestControlPlane } from './test-control-plane.ts';

/** Ids of an account's entities, by the parameter names in the table of routes. */
export type FilledIds = Readonly<Record<string, string>>;

const firstMs = Date.parse('2026-03-01T00:00:00Z');

/** Gives an account at least one of everything that has an id. */
export async function fillAccount(plane: TestControlPlane, client: Client, pool: Pool): Promise<FilledIds> {
  const made = await fillConfiguration(client);
  const { body: version } = await client.post('/versions', { publish: true, name: 'First' });
  const { body: pendingVersion } = await client.post('/versions', { name: 'Waiting for approval' });
  await client.post(`/versions/${pendingVersion.id}/request-approval`);
  // After publishing: an erasure is forwarded only to live destinations.
  const people = await fillPeople(client, pool);
  const log = await fillLog(plane, client, made['destination'] ?? '');
  const range = { what: 'log', from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
  const { body: replay } = await client.post(`/destinations/${made['destination']}/replay`, range);
  const { body: key } = await client.post('/keys', { name: 'second', scopes: ['source:list'] });
  const { body: user } = await client.post('/users', { email: 'ann@example.com', role: 'viewer' });
  await client.post('/sign-in-links', { userId: user.id });
  await fetch(`${plane.baseUrl}/rest/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sluice-console': '1' },
    body: JSON.stringify({ key: client.key }),
  });
  return {
    ...made,
    ...people,
    ...log,
    version: version.id,
    pendingVersion: pendingVersion.id,
    replay: replay.id,
    key: key.id,
    user: user.id,
  };
}

async function fillConfiguration(client: Client): Promise<FilledIds> {
  const ids: Record<string, string> = {};
  const add = async (name: string, path: string, body: object): Promise<string> => {
    const answer = await client.post(path, body);
    if (answer.status !== 200) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return (ids[name] = answer.body.id as string);
  };
  const collection = (name: string, body: object): Promise<string> => add(name, `/collections/${name}`, body);
  const settings = { httpDestinationUrl: 'https://example.com/events', headers: '{"x-key":"secret"}' };
  const destinationId = await add('destination', '/destinations', { type: 'HTTPDestination', name: 'Hooks', settings });
  const sourceId = await add('source', '/sources', { type: 'WebSource', name: 'Shop' });
  await client.post(`/sources/${sourceId}/secret/rotate`);
  await collection('allowedEvents', { name: 'Signup', destinationIds: [destinationId] });
  await collection('externalAllowedEventData', { name: '*', properties: ['plan'] });
  await collection('mappings', { name: 'All', destinationId, logic: null });
  await collection('consentSettings', { name: 'advertising', destinationIds: [destinationId] });
  ids['consentRecord'] = (await client.get('/consent-settings')).body.entities[0].id;
  await collection('globalDispatchCenters', { categories: [] });
  await collection('replaySettings', {});
  const tagManagerId = await collection('tagManagers', { name: 'Shop' });
  await collection('tagManagerTags', { name: 'Tag', tagManagerId, type: 'CustomScript', content: 'track(1)' });
  await collection('tagManagerTriggers', { name: 'Trigger', tagManagerId, type: 'PageView' });
  await collection('tagManagerVariables', { name: 'Variable', tagManagerId, type: 'Constant', value: '1' });
  await collection('dataGovernanceRules', { name: 'Plan', property: 'event_properties.plan', type: 'Required' });
  await collection('dataGovernanceEvents', { name: 'Signup' });
  await collection('experimentSettings', { name: 'Tests' });
  const experimentId = await collection('experiments', { name: 'Price', key: 'price', type: 'ab' });
  await collection('experimentVariants', { name: 'Control', experimentId, isControl: true, weight: 50 });
  await collection('experimentVariants', { name: 'Lower', experimentId, isControl: false, weight: 50 });
  return ids;
}

async function fillPeople(client: Client, pool: Pool): Promise<FilledIds> {
  const { accountId } = client;
  const visitors = createVisitorStore(pool);
  const touch = (userId: string, more: { readonly externalIds?: string[]; readonly emails?: string[] } = {}) =>
    visitors.resolve([
      {
        accountId,
        claim: { userId, externalIds: [], emails: [], anonymousId: undefined, ...more },
        receivedAtMs: Date.now(),
        given: [{ city: 'Bern' }],
        sentWith: 'server',
      },
    ]);
  await touch('ann', { externalIds: ['x-ann'], emails: ['ann@example.com'] });
  await touch('bob', { externalIds: ['x-bob'] });
  await touch('device');
  await touch('gone', { emails: ['gone@example.com'] });
  await client.post('/visitors/ann/merge', { visitorId: 'device' });
  const { body: merges } = await client.get('/visitors/ann/merges');
  const { body: erased } = await client.call('DELETE', '/visitors/gone', { body: { suppress: true } });
  const { body: erasure } = await client.get(`/erasures/${erased.erasureId}`);
  await client.get(`/erasures/${erased.erasureId}/certificate`);
  const { body: suppressions } = await client.get('/suppressions');
  for (const id of ['e1', 'e2']) {
    await pool.query(
      `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
        values ($1, $2, now(), now(), 'web', 'Signup', 'ann', false, '{"event_properties":{"plan":"free"}}')`,
      [accountId, id],
    );
    await pool.query(
      `insert into event_outcomes (account_id, event_id, destination_id, outcome, attempts, at)
        values ($1, $2, 'd', 'delivered', 1, now())`,
      [accountId, id],
    );
  }
  await pool.query(`insert into experiment_assignments values ($1, 'ann', 'price', 'control')`, [accountId]);
  await pool.query(
    `insert into violations values ($1, date_trunc('hour', now()), 'r', 'Signup', 's', '', 'Report', 'Info', 1, now(), now(), '')`,
    [accountId],
  );
  await pool.query(
    `insert into personal_data values ($1, 'Signup', 'event_properties.email', 'email', 'both', 3, 3, now(), now(), 'a@a.aa')`,
    [accountId],
  );
  await pool.query(`insert into identity_counts values ($1, date_trunc('hour', now()), 's', 'r', 1, now())`, [
    accountId,
  ]);
  await pool.query(`insert into experiment_visitors values ($1, 'price', 'ann', 'control', now(), 'Order', now())`, [
    accountId,
  ]);
  await client.post('/event-views', { name: 'View', query: 'outcome=rejected' });
  return {
    eventView: 'View',
    visitor: 'ann',
    person: 'bob',
    merge: merges.entities[0].id,
    erasure: erased.erasureId,
    erasureDestination: erasure.destinations[0].id,
    suppression: suppressions.entities[0].id,
    event: 'e1',
  };
}

async function fillLog({ log }: TestControlPlane, { accountId }: Client, destinationId: string): Promise<FilledIds> {
  const send = (subject: string, data: Uint8Array) =>
    publish(log, subject, data, { msgId: randomUUID(), timeoutMs: 30_000 });
  const letter = {
    v: 1,
    destinationId,
    reason: 'status 400',
    attempts: 1,
    firstAttemptAt: firstMs,
    lastAttemptAt: firstMs,
    event: sampleEvent({ id: 'e1', event: 'Signup' }),
  } as const;
  const { seq: deadLetter } = await send(deadLetterSubject(destinationId), encodeDeadLetter(letter));
  const held = {
    v: 1,
    account: accountId,
    source: 'web',
    at: firstMs,
    kind: 'track',
    id: 'e3',
    body: { event: 'Signup' },
  };
  const { seq } = await send(quarantineSubject(accountId, 'rule-1', 0), Buffer.from(JSON.stringify(held)));
  return { quarantined: String(seq), deadLetter: String(deadLetter) };
}
