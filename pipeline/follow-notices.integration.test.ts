import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessTokenContext, createSecretBox } from '../shared/contracts/config/secrets.ts';
import { decodeDeadLetter } from '../shared/contracts/events/dead-letter.ts';
import { envelopeHead, envelopePrefix } from '../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../shared/contracts/events/frame.ts';
import type { ResolvedEvent } from '../shared/contracts/events/resolved-event.ts';
import { deadLetterSubject, ingestSubject } from '../shared/contracts/subjects.ts';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { readNext } from '../shared/nats/messages/subject-log.ts';
import { publishWithRetry } from '../shared/nats/publish/publisher.ts';
import { streams } from '../shared/nats/streams/topology.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { startScriptedDestination } from '../shared/testing/scripted-destination.ts';
import type { DestinationAnswer, ScriptedDestination } from '../shared/testing/scripted-destination.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import { until } from '../shared/testing/until.ts';

let nats: NatsServer;
let database: TestDatabase;
let graph: ScriptedDestination;

beforeAll(async () => {
  [nats, database, graph] = await Promise.all([startTestNats(), createTestDatabase(), startScriptedDestination()]);
  await migrate(database.url);
});
afterAll(async () => {
  await Promise.all([nats?.stop(), graph?.close()]);
  await database?.drop();
});

/** Leads as the Graph API returns them, https://developers.facebook.com/docs/marketing-api/guides/lead-ads/retrieving. */
const leadOf = (id: string) => ({
  created_time: '2026-11-22T08:49:14+0000',
  id,
  ad_id: '23842700',
  form_id: '1155',
  field_data: [
    { name: 'full_name', values: ['Ada King Lovelace'] },
    { name: 'email', values: [`Ada.${id}@Example.com`] },
    { name: 'phone_number', values: ['+15550100'] },
    { name: 'interests', values: ['tea', 'cups\0'] },
  ],
});

const graphError = (status: number, code: number, subcode?: number): DestinationAnswer => ({
  status,
  body: JSON.stringify({ error: { message: 'no', type: 'OAuthException', code, error_subcode: subcode } }),
});

test('notices: each lead is fetched with the token and delivered as an event, whatever errors the Graph API answers first', async () => {
  const [accountId, sourceId] = [randomUUID(), randomUUID()];
  const key = randomBytes(32).toString('base64');
  const { rig, sink } = await openRig(nats.url, database.url, {
    SECRETS_KEY: key,
    FACEBOOK_GRAPH_URL: `${graph.url}/to`,
    RETRY_WINDOW_MS: '3000',
    DISPATCH_ACCESS_RETRY_MIN_MS: '1000',
  });
  const asked = new Map<string, number>();
  graph.answer(({ path, headers }) => {
    const id = /^\/to\/v\d+\.0\/(\d+)$/.exec(path)?.[1] ?? path;
    asked.set(id, (asked.get(id) ?? 0) + 1);
    if (headers.authorization !== 'Bearer new-token') return graphError(400, 190);
    // The first request for this lead exceeds the rate limit.
    if (id === '1002' && asked.get(id) === 1) return graphError(400, 80_005);
    if (id === '1003') return graphError(400, 100, 33);
    if (id === '1004') return { status: 200, body: '{"id":"1004"}' };
    return { status: 200, body: JSON.stringify(leadOf(id)) };
  });
  const configure = (token: string): Promise<number> => {
    const accessToken = createSecretBox(key).seal(token, accessTokenContext(accountId, sourceId));
    const source = { id: sourceId, name: 'Leads', type: 'FacebookLeadAds', status: 'Enabled', accessToken };
    return rig.configure(accountId, { sources: [source], destinations: [httpEntity('sink', `${sink.url}/in`)] });
  };
  const notify = async (lead: string, { source = sourceId, isTest = false, field = 'leadgen' } = {}): Promise<void> => {
    const id = `facebookleadads:${lead}:${field}`;
    const body = { event: field, distinctId: id, eventProperties: { field, value: { leadgen_id: lead } } };
    const frame = new FrameWriter();
    const prefix = envelopePrefix({ account: accountId, source, test: isTest });
    const head = envelopeHead(prefix, { kind: 'track', id, at: Date.now() });
    frame.appendEnvelope(head, Buffer.from(JSON.stringify(body)));
    const message = { subject: ingestSubject(0), payload: frame.bytes(), msgId: randomUUID() };
    await publishWithRetry(rig.connection, message, { attemptsMax: 6 });
  };
  const leads = (): readonly ResolvedEvent[] =>
    sink.requests
      .flatMap(({ body }) => JSON.parse(body) as ResolvedEvent)
      .filter(({ event }) => event.event === 'Lead')
      .toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1));
  const deadLetters = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (let seq = 1; ;) {
      const message = await readNext(rig.connection, streams.deadLetters, deadLetterSubject(sourceId), seq);
      if (message === undefined) return found;
      const letter = decodeDeadLetter(message.data);
      found.set(letter?.event.event.id ?? '', letter?.reason ?? '');
      seq = message.seq + 1;
    }
  };

  await configure('old-token');
  await startOn(rig);
  await notify('1001');
  await until('the token is refused', () => asked.has('1001'));
  await configure('new-token');
  for (const lead of ['1002', '1003', '1004', '../me']) await notify(lead);
  await notify('1005', { source: randomUUID() });
  await notify('1006', { isTest: true });
  await notify('1007', { field: 'feed' });
  await until('both leads are delivered', () => leads().length === 2);
  await until('what cannot be fetched is a dead letter', async () => (await deadLetters()).size === 2);

  expect(leads()).toMatchObject([
    {
      event: {
        id: 'facebookleadads:lead:1001',
        time: Date.UTC(2026, 10, 22, 8, 49, 14),
        source_id: sourceId,
        event_properties: {
          leadgen_id: '1001',
          form_id: '1155',
          ad_id: '23842700',
          full_name: 'Ada King Lovelace',
          interests: ['tea', 'cups\ufffd'],
        },
      },
      visitor: {
        email: 'ada.1001@example.com',
        phone_number: '+15550100',
        first_name: 'Ada',
        last_name: 'King Lovelace',
      },
    },
    { event: { id: 'facebookleadads:lead:1002' }, visitor: { email: 'ada.1002@example.com' } },
  ]);
  expect(await deadLetters()).toEqual(
    new Map([
      ['facebookleadads:1003:leadgen', 'no attempt left: status 400, code 100'],
      ['facebookleadads:1004:leadgen', 'the answer is about something other than the notice'],
    ]),
  );
  expect(asked.get('1003')).toBeGreaterThan(1);
  // Notices are not followed if they come from another source or a test, or are about something other than leads.
  expect([...asked.keys()].toSorted()).toEqual(['1001', '1002', '1003', '1004']);
  // The next version does not have the source: its notices are no longer followed, and their consumer is removed.
  await rig.configure(accountId, { sources: [], destinations: [] });
  await until('its consumer is gone', async () => (await rig.consumers()).every((name) => !name.includes(sourceId)));
});
