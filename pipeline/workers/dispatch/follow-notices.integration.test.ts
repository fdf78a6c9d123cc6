import { noGeoRegions } from './geo-regions.ts';
import { noSuspicion } from '../worker/suspicion.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessTokenContext, createSecretBox } from '../../../shared/contracts/config/secrets.ts';
import type { SnapshotEntity } from '../../../shared/contracts/config/account-config.ts';
import { decodeDeadLetter } from '../../../shared/contracts/events/dead-letter.ts';
import { decodeEnvelopes } from '../../../shared/contracts/events/envelope.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { partitionOf } from '../../../shared/contracts/events/partition.ts';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { deadLetterSubject, eventsSubject, ingestSubject } from '../../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { createEgressRules } from '../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../../shared/egress/sender.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { followErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import { openBuckets } from '../../../shared/nats/buckets/open-buckets.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../shared/testing/log-gate.ts';
import { makeTestLog } from '../../../shared/testing/make-test-log.ts';
import { findSourceKind } from '../../../shared/sources/registry.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { startScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import type { DestinationAnswer, ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { accountConfig } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { createAccountPlans } from '../../threads/account-plans.ts';
import { CostBudget } from '../../../shared/limits/index.ts';
import { RoundBudgets } from './sources/round-budget.ts';
import { FrameQuotas } from './sources/frame-quota.ts';
import { OpenedFrames } from './events/opened-frames.ts';
import { ReferencedEvents } from './events/referenced-events.ts';
import { createSourceActivity } from './health/source-activity.ts';
import { createDeliveryTimings } from './sending/delivery-timings.ts';
import { storeFetched } from './store-fetched.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import { unlimitedRetries } from './testing/unlimited-retries.ts';
import { dispatcherWorker } from './worker.ts';

const partitions = 4;
const accountId = randomUUID();
const sourceId = randomUUID();
const secrets = createSecretBox(randomBytes(32).toString('base64'));

let nats: NatsServer;
let connection: LogConnection;
let graph: ScriptedDestination;

beforeAll(async () => {
  [nats, graph] = await Promise.all([startTestNats(), startScriptedDestination()]);
  await makeTestLog(nats, testTopology({ partitions }));
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'follow-notices-test' });
});
afterAll(async () => {
  await connection?.close();
  await Promise.all([nats?.stop(), graph?.close()]);
});

/** Leads as the Graph API returns them, https://developers.facebook.com/docs/marketing-api/guides/lead-ads/retrieving. */
const leadOf = (id: string, email: string) => ({
  created_time: '2026-11-22T08:49:14+0000',
  id,
  ad_id: '23842700',
  form_id: '1155',
  field_data: [
    { name: 'full_name', values: ['Ada King Lovelace'] },
    { name: 'email', values: [email] },
    { name: 'phone_number', values: ['+15550100'] },
    { name: 'interests', values: ['tea', 'cups\0'] },
  ],
});

const graphError = (status: number, code: number, subcode?: number): DestinationAnswer => ({
  status,
  body: JSON.stringify({ error: { message: 'no', type: 'OAuthException', code, error_subcode: subcode } }),
});

const sourceWith = (token: string): SnapshotEntity => ({
  id: sourceId,
  name: 'Leads',
  type: 'FacebookLeadAds',
  status: 'Enabled',
  accessToken: secrets.seal(token, accessTokenContext(accountId, sourceId)),
});

/** All events stored in INGEST, with their partitions. */
async function takenIn(): Promise<(Envelope & { readonly partition: number })[]> {
  const found: (Envelope & { readonly partition: number })[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let seq = 1; ;) {
      const message = await readNext(connection, streams.ingest, ingestSubject(partition), seq);
      if (message === undefined) break;
      found.push(...decodeEnvelopes(message.data).map((envelope) => ({ ...envelope, partition })));
      seq = message.seq + 1;
    }
  }
  return found;
}

async function deadLetters(): Promise<readonly (readonly [leadId: unknown, reason: string])[]> {
  const found: [unknown, string][] = [];
  for (let seq = 1; ;) {
    const message = await readNext(connection, streams.deadLetters, deadLetterSubject(sourceId), seq);
    if (message === undefined) return found;
    const letter = decodeDeadLetter(message.data);
    const value = letter?.event.event.event_properties['value'] as { readonly leadgen_id?: unknown };
    found.push([value.leadgen_id, letter?.reason ?? '']);
    seq = message.seq + 1;
  }
}

type Notice = { readonly lead: string; readonly source?: string; readonly test?: boolean; readonly field?: string };

/** Puts events into the account's log, as resolvers do. */
async function notify(...notices: readonly Notice[]): Promise<void> {
  const frame = new FrameWriter();
  for (const { lead, source = sourceId, test: isTest = false, field = 'leadgen' } of notices) {
    const event_properties = { page_id: '7', field, value: { leadgen_id: lead, form_id: '1155' } };
    const own = { id: `facebookleadads:${lead}:leadgen`, event: field, source_id: source, account_id: accountId };
    frame.appendLine(encodeResolved(sampleEvent({ ...own, test: isTest, time: Date.now(), event_properties })));
  }
  const message = { subject: eventsSubject(accountId, 0), payload: frame.bytes(), msgId: randomUUID() };
  await publishWithRetry(connection, message, { attemptsMax: 6 });
}

test('notices: each lead is fetched with the token and stored as an event, whatever errors the Graph API answers first', async () => {
  const asked = new Map<string, number>();
  graph.answer(({ path, headers }) => {
    const id = path.split('/').at(-1) ?? '';
    asked.set(id, (asked.get(id) ?? 0) + 1);
    if (headers.authorization !== 'Bearer new-token') return graphError(400, 190);
    // The first request for this lead exceeds the rate limit.
    if (id === '1002' && asked.get(id) === 1) return graphError(400, 80_005);
    if (id === '1003') return graphError(400, 100, 33);
    if (id === '1004') return { status: 200, body: '{"id":"1004"}' };
    return { status: 200, body: JSON.stringify(leadOf(id, `Ada.${id}@Example.com`)) };
  });
  const plans = createAccountPlans(secrets, { FacebookLeadAds: graph.url });
  const configure = (token: string): void => {
    const document = JSON.stringify(accountConfig(accountId, { sources: [sourceWith(token)] }));
    plans.configure(accountId, Buffer.from(document));
  };
  configure('old-token');
  const rules = createEgressRules(['127.0.0.0/8']);
  const lookupFor = createGuardedLookup(rules);
  const { health, positions } = await openBuckets(connection, 1);
  const sourceActivity = createSourceActivity(health, 'test', () => undefined);
  const dispatcher = {
    ...defaultSettings,
    retryWindowMs: 3_000,
    accessRetry: { ...defaultSettings.accessRetry, minMs: 500 },
  };
  const spec = { kind: 'dispatcher', accountId, destinationId: sourceId, publishedAtMs: Date.now() - 1_000 } as const;
  const erasures = followErasures({ connection, onError: (error) => expect.unreachable(String(error)) });
  const actor = await dispatcherWorker.start(spec, {
    connection,
    health,
    positions,
    sourceActivity,
    plans,
    outcomes: { record: () => undefined },
    settings: { instanceId: 'test', partitions, dispatcher },
    timings: createDeliveryTimings(),
    roundBudgets: new RoundBudgets(Infinity, new CostBudget({ unitsPerMs: 1, unitsAtOnce: 1 })),
    frameQuotas: new FrameQuotas(16 * 1024 ** 2),
    openedFrames: new OpenedFrames({ bytesMax: 1024 ** 2 }),

    referencedEvents: new ReferencedEvents(1024 ** 2),
    retryUse: () => unlimitedRetries,
    erasures,
    regions: noGeoRegions,
    createSender: () => createSender({ rules, lookupFor, limits: dispatcher.sender }),
    logger: pino({ level: 'silent' }),
    beginTurn: () => undefined,
    suspicion: noSuspicion,
  });

  await notify({ lead: '1001' });
  await until('the token is refused', () => actor.stats().held === 1);
  expect(await takenIn()).toEqual([]);
  configure('new-token');
  actor.reconfigured?.();
  await notify(
    { lead: '1002' },
    { lead: '1003' },
    { lead: '1004' },
    { lead: '1005', source: randomUUID() },
    { lead: '1006', test: true },
    { lead: '1007', field: 'feed' },
    { lead: '../me' },
  );
  await until('both leads are taken in', async () => (await takenIn()).length === 2, 60_000);
  await until('what cannot be fetched is a dead letter', async () => (await deadLetters()).length === 2, 60_000);
  await actor.stop(5_000);
  await sourceActivity.stop();

  const [first, second] = (await takenIn()).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(first).toMatchObject({
    kind: 'track',
    id: 'facebookleadads:lead:1001',
    account: accountId,
    source: sourceId,
    body: {
      event: 'Lead',
      distinctId: 'facebookleadads:lead:1001',
      time: Date.UTC(2026, 10, 22, 8, 49, 14),
      email: 'Ada.1001@Example.com',
      userProperties: { first_name: 'Ada', last_name: 'King Lovelace', phone_number: '+15550100' },
      eventProperties: {
        leadgen_id: '1001',
        form_id: '1155',
        ad_id: '23842700',
        full_name: 'Ada King Lovelace',
        email: 'Ada.1001@Example.com',
        interests: ['tea', 'cups\ufffd'],
      },
    },
  });
  expect(second?.id).toBe('facebookleadads:lead:1002');
  // All events of a visitor are in the same partition.
  expect(first?.partition).toBe(partitionOf(accountId, { email: 'ada.1001@example.com', distinctId: 'x' }, partitions));
  expect(new Map(await deadLetters())).toEqual(
    new Map([
      ['1003', 'no attempt left: status 400, code 100'],
      ['1004', 'the answer is about something other than the notice'],
    ]),
  );
  expect(asked.get('1003')).toBeGreaterThan(1);
  expect([...asked.keys()].toSorted()).toEqual(['1001', '1002', '1003', '1004']);
});

test('order of effects: a fetched event counts as answered only once the log has stored it', async () => {
  const gate = await openLogGate(nats.url);
  const gated = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'follow-notices-gated' });
  const answer = { status: 200, headers: {}, body: JSON.stringify(leadOf('2001', 'ada@example.com')) };
  const sender = storeFetched(
    { send: () => Promise.resolve({ kind: 'answered', answer }), close: () => Promise.resolve() },
    {
      fetch: findSourceKind('FacebookLeadAds')?.fetch ?? expect.unreachable(),
      accountId,
      sourceId,
      partitions,
      connection: gated,
    },
  );
  const send = () => sender.send({ method: 'GET', url: graph.url, headers: {}, body: undefined });
  const refused = gate.refuse('ingest.>');
  expect(await send()).toMatchObject({ kind: 'failed', permanent: false, reason: expect.stringContaining('full') });
  refused.release();
  const held = gate.hold('ingest.>');
  let isAnswered = false;
  const sent = send().finally(() => (isAnswered = true));
  await held.arrived;
  expect(isAnswered).toBe(false);
  held.release();
  expect(await sent).toMatchObject({ kind: 'answered' });
  await gated.close();
  await gate.close();
});
