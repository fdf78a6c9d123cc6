import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeStackFolder } from '../testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../testing/running-stack.ts';
import type { RunningStack } from '../testing/running-stack.ts';
import { createStackClient } from '../testing/stack-client.ts';
import type { StackClient } from '../testing/stack-client.ts';
import { awaitEvents, deliveredEvents } from './testing/delivered-events.ts';
import type { DeliveredEvent } from './testing/delivered-events.ts';
import { startFaultyWay } from './testing/faulty-way.ts';
import type { Fault, FaultyWay } from './testing/faulty-way.ts';
import { callAsLibrary } from './testing/specified-library.ts';
import type { LibraryAnswer } from './testing/specified-library.ts';

const settle = { timeout: 45_000, interval: 100 };

let folder: string;
let stack: RunningStack;
let client: StackClient;
let way: FaultyWay;

beforeAll(async () => {
  folder = await makeStackFolder();
  stack = await runStack(folder, await chooseStackPorts());
  client = createStackClient(stack.credentials);
  way = await startFaultyWay(stack.credentials.gateway);
}, 240_000);

afterAll(async () => {
  await way.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

beforeEach(() => {
  way.seen.length = 0;
});

/** Every fault that a library must survive, one after the other. */
const everyFault: readonly Fault[] = [
  { kind: 'answer', status: 503 },
  { kind: 'cut-before' },
  { kind: 'answer', status: 429, retryAfterS: 1 },
  { kind: 'cut-after' },
];

const of = (visitor: string) => (event: DeliveredEvent) =>
  event.visitor['external_id'] === visitor || event.visitor.id.startsWith(visitor);

const named = (events: readonly DeliveredEvent[], name: string): DeliveredEvent => {
  const found = events.filter(({ event }) => event.event === name);
  // Exactly one event: a duplicate fails the test.
  expect(found.map(({ event }) => event.event)).toEqual([name]);
  return found[0] as DeliveredEvent;
};

const specNames = ['$identify', 'Order Completed', 'Page Viewed', 'Screen Viewed', '$group', '$alias'];

function expectSpecEvents(events: readonly DeliveredEvent[]): void {
  const order = named(events, 'Order Completed');
  expect(order.event.event_properties).toEqual({ total: 42.5, currency: 'EUR' });
  expect(order.event.context).toMatchObject({ user_agent: 'Mozilla/5.0 (of the visitor)', utm_campaign: 'spring' });
  expect(named(events, 'Page Viewed').event.event_properties).toMatchObject({ name: 'Home', category: 'Docs' });
  expect(named(events, 'Screen Viewed').event.event_properties).toMatchObject({ name: 'Main', score: 7 });
  expect(named(events, '$group').event.event_properties).toEqual({ group_id: 'acme', employees: 12 });
  const identify = named(events, '$identify');
  expect(identify.visitor).toMatchObject({ first_name: 'Ada', city: 'London', custom_properties: { plan: 'pro' } });
  // After the alias, all events belong to one visitor.
  const alias = named(events, '$alias');
  expect(alias.visitor).toMatchObject({ first_name: 'Ada', custom_properties: { group_id: 'acme' } });
}

const traits = { email: 'ada@example.com', firstName: 'Ada', address: { city: 'London' }, plan: 'pro' };
const context = {
  userAgent: 'Mozilla/5.0 (of the visitor)',
  campaign: { name: 'spring', source: 'news', medium: 'email' },
};

test("libraries: every call of Segment's Node library arrives, through refusals and cut connections", async () => {
  const analytics = new Analytics({ writeKey: stack.credentials.sourceToken, host: way.url, maxRetries: 10 });
  const failures: unknown[] = [];
  analytics.on('error', (error) => failures.push(error));
  way.faults.push(...everyFault);
  const ids = { userId: 'segment-ada', anonymousId: 'segment-ada-anonymous' };
  analytics.identify({ ...ids, traits });
  analytics.track({ ...ids, event: 'Order Completed', properties: { total: 42.5, currency: 'EUR' }, context });
  analytics.page({ ...ids, name: 'Home', category: 'Docs', properties: { url: 'https://example.com/docs' } });
  analytics.screen({ ...ids, name: 'Main', properties: { score: 7 } });
  analytics.group({ ...ids, groupId: 'acme', traits: { employees: 12 } });
  analytics.alias({ userId: 'segment-ada', previousId: 'segment-ada-anonymous' });
  await analytics.closeAndFlush({ timeout: 60_000 });
  expect(failures).toEqual([]);
  expect(way.seen).toEqual([503, 0, 429, 0, 200]);
  expectSpecEvents(await awaitEvents(client, specNames, of('segment-ada')));
});

test("libraries: every call of RudderStack's Node library arrives, through refusals and cut connections", async () => {
  const failures: unknown[] = [];
  const analytics = new RudderAnalytics(stack.credentials.sourceToken, {
    dataPlaneUrl: way.url,
    flushInterval: 100,
    retryCount: 10,
    logLevel: 'error',
    errorHandler: (error) => failures.push(error),
  });
  way.faults.push(...everyFault);
  const ids = { userId: 'rudder-ada', anonymousId: 'rudder-ada-anonymous' };
  analytics.identify({ ...ids, traits });
  analytics.track({ ...ids, event: 'Order Completed', properties: { total: 42.5, currency: 'EUR' }, context });
  analytics.page({ ...ids, name: 'Home', category: 'Docs', properties: { url: 'https://example.com/docs' } });
  analytics.screen({ ...ids, name: 'Main', properties: { score: 7 } });
  analytics.group({ ...ids, groupId: 'acme', traits: { employees: 12 } });
  analytics.alias({ userId: 'rudder-ada', previousId: 'rudder-ada-anonymous' });
  await analytics.flush();
  expectSpecEvents(await awaitEvents(client, specNames, of('rudder-ada')));
  expect(failures).toEqual([]);
  expect(way.faults).toEqual([]);
});

test("libraries: what PostHog's Node library captures arrives, through refusals and cut connections", async () => {
  const posthog = new PostHog(stack.credentials.sourceToken, {
    host: way.url,
    fetchRetryCount: 10,
    fetchRetryDelay: 50,
    disableGeoip: true,
  });
  way.faults.push(...everyFault);
  posthog.identify({ distinctId: 'posthog-ada', properties: { email: 'ada.p@example.com', firstName: 'Ada' } });
  posthog.capture({ distinctId: 'posthog-ada', event: 'Order Completed', properties: { total: 42.5 } });
  posthog.capture({
    distinctId: 'posthog-ada',
    event: '$pageview',
    properties: { $current_url: 'https://a.test/x?gclid=g1' },
  });
  posthog.alias({ distinctId: 'posthog-ada', alias: 'posthog-ada-anonymous' });
  await posthog.shutdown(60_000);
  expect(way.seen).toEqual([503, 0, 429, 0, 200]);
  const events = await awaitEvents(
    client,
    ['$identify', 'Order Completed', 'Page Viewed', '$alias'],
    of('posthog-ada'),
  );
  expect(named(events, 'Order Completed').event.event_properties).toMatchObject({ total: 42.5 });
  expect(named(events, 'Page Viewed').event.context).toMatchObject({ host: 'a.test', pathname: '/x', gclid: 'g1' });
  expect(named(events, '$identify').visitor).toMatchObject({ first_name: 'Ada', email: 'ada.p@example.com' });
});

test("libraries: PostHog's Node library gets an experiment as a flag, and its exposure is counted once", async () => {
  const made = async (path: string, body: object): Promise<string> =>
    String((await client.api('POST', path, body as Readonly<Record<string, unknown>>))['id']);
  await client.api('POST', 'collections/experimentSettings', {});
  const experimentId = await made('collections/experiments', { name: 'Checkout', key: 'checkout' });
  const variant = { experimentId, weight: 50 };
  await made('collections/experimentVariants', { ...variant, name: 'Plain', isControl: true });
  await made('collections/experimentVariants', { ...variant, name: 'Express' });
  await client.api('POST', `collections/experiments/${experimentId}/start`);
  await client.publish('starts an experiment');
  const options = { host: way.url, disableGeoip: true, fetchRetryCount: 10, fetchRetryDelay: 50 };
  const posthog = new PostHog(stack.credentials.sourceToken, options);
  await expect.poll(() => posthog.getFeatureFlag('checkout', 'flag-probe'), settle).not.toBeUndefined();
  const visitors = Array.from({ length: 8 }, (_, n) => `flagged-${n}`);
  const given = new Map<string, unknown>();
  for (const visitor of visitors) {
    given.set(visitor, await posthog.getFeatureFlag('checkout', visitor));
    // The library requests and reports the flag a second time, which still counts as one exposure.
    expect(await posthog.getFeatureFlag('checkout', visitor)).toBe(given.get(visitor));
  }
  for (const visitor of visitors) {
    const body = { token: stack.credentials.sourceToken, visitor_id: visitor, track_impression: false };
    const assigned = await callAsLibrary({
      baseUrl: `${way.url}/api/v1`,
      path: '/experiments/assignments/checkout',
      body,
      retriesMax: 2,
      runtime: 'node',
    });
    expect(assigned.body).toMatchObject({ in_experiment: true, variant_name: given.get(visitor) });
  }
  for (const value of given.values()) expect(['Plain', 'Express']).toContain(value);
  expect(await posthog.getFeatureFlag('no-such-experiment', 'flagged-0')).toBeUndefined();
  await posthog.shutdown(60_000);
  const exposed = async (): Promise<number> => {
    const results = await client.api('GET', `experiments/${experimentId}/results`);
    const variants = results['variants'] as readonly { readonly visitors: number }[];
    return variants.reduce((sum, { visitors: count }) => sum + count, 0);
  };
  // The probe counts as a visitor, too.
  await expect.poll(exposed, settle).toBe(visitors.length + 1);
});

test('libraries: what the library of the specified service sends arrives once, and servers do not count as bots', async () => {
  const source = await client.api('POST', 'sources', { type: 'NodejsApi', name: 'Guarded', botControlMode: 'Block' });
  const { token } = await client.api('GET', `sources/${String(source['id'])}/tokens`);
  await client.publish('adds a source that lets no bots in');
  const call = (path: string, body: object): Promise<LibraryAnswer> =>
    callAsLibrary({ baseUrl: `${way.url}/api/v1`, path, body: { token, ...body }, retriesMax: 4, runtime: 'node' });
  const track = (event: string, more: object = {}): Promise<LibraryAnswer> =>
    call('/track', { event, externalId: 'specified-ada', distinctId: null, ...more });
  const published = async (): Promise<number> => (await call('/track', { event: '' })).status;
  await expect.poll(published, settle).toBe(400);
  way.faults.push(...everyFault);
  expect(await track('Without An Id')).toMatchObject({ status: 200, body: { success: true }, tries: 5 });
  expect(way.faults).toEqual([]);
  await track('Said To Be A Bot', { defaultProperties: { is_bot: 'true' } });
  await track('Said To Be None', { defaultProperties: { is_bot: 'false' } });
  const rows = [1, 2].map((row) => ({
    event: `Row ${row}`,
    externalId: 'specified-ada',
    distinctId: `specified-${row}`,
  }));
  expect(await call('/batch', { events: rows })).toMatchObject({ status: 200, body: { success: true, accepted: 2 } });
  await call('/identify', { externalId: 'specified-ada', userProperties: { first_name: 'Ada', phone_number: null } });
  const personalization = await call('/experiments/personalization', { visitor_id: 'specified-ada' });
  expect(personalization.body).toEqual({ success: true, properties: {}, personalizations: [] });
  expect(await call('/track', { event: 5 })).toMatchObject({ status: 400, tries: 1 });
  const names = ['Without An Id', 'Said To Be None', 'Row 1', 'Row 2', '$identify'];
  const events = await awaitEvents(client, names, of('specified-ada'));
  // The event without an id was sent twice, because its answer was cut off, and counts once. The bot's event is
  // missing.
  expect(events.map(({ event }) => event.event).toSorted()).toEqual(names.toSorted());
  expect(named(events, '$identify').visitor).toMatchObject({ first_name: 'Ada' });
});

test('libraries: the integrations of an event exclude destinations by kind and name', async () => {
  const { id } = await client.api('POST', 'destinations', {
    name: 'Warehouse',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/warehouse` },
  });
  await client.publish('adds a warehouse');
  const analytics = new Analytics({ writeKey: stack.credentials.sourceToken, host: way.url });
  const send = (event: string, integrations: Record<string, boolean>): void =>
    analytics.track({ userId: 'integrations-ada', event, integrations });
  send('To none', { All: false });
  send('To the warehouse', { All: false, Warehouse: true });
  send('Not to web hooks', { Webhooks: false });
  send('To all', { All: true });
  await analytics.closeAndFlush();
  const warehouse = await awaitEvents(client, ['To all'], of('integrations-ada'), '/warehouse');
  const demo = await awaitEvents(client, ['To all'], of('integrations-ada'));
  const names = (events: readonly DeliveredEvent[]): string[] => events.map(({ event }) => event.event);
  expect(names(warehouse)).toEqual(['To the warehouse', 'To all']);
  expect(names(demo)).toEqual(['To all']);
  await client.api('DELETE', `destinations/${String(id)}`);
  await client.publish('removes it');
});

/** Sends an event per id with a library. Resolves when the library has nothing left to send. */
type Sender = (ids: readonly string[], user: string) => Promise<unknown>;

const senders: readonly (readonly [library: string, rounds: number, Sender])[] = [
  [
    'Segment',
    4,
    async (ids, userId) => {
      const options = { writeKey: stack.credentials.sourceToken, host: way.url, maxRetries: 10 };
      const analytics = new Analytics({ ...options, flushAt: 50, flushInterval: 50 });
      for (const messageId of ids) analytics.track({ userId, event: 'Ledger', messageId, properties: { messageId } });
      await analytics.closeAndFlush({ timeout: 60_000 });
    },
  ],
  [
    'RudderStack',
    // One round of faults: with each round the library waits longer before its next try.
    1,
    async (ids, userId) => {
      const options = {
        dataPlaneUrl: way.url,
        flushAt: 100,
        flushInterval: 100,
        retryCount: 10,
        maxInternalQueueSize: 2_000,
      };
      const analytics = new RudderAnalytics(stack.credentials.sourceToken, { ...options, logLevel: 'error' });
      for (const messageId of ids) analytics.track({ userId, event: 'Ledger', properties: { messageId } });
      await analytics.flush();
    },
  ],
  [
    'PostHog',
    4,
    async (ids, distinctId) => {
      const options = { host: way.url, flushAt: 100, fetchRetryCount: 10, fetchRetryDelay: 50, disableGeoip: true };
      const posthog = new PostHog(stack.credentials.sourceToken, options);
      for (const messageId of ids) {
        posthog.capture({ distinctId, event: 'Ledger', uuid: messageId, properties: { messageId } });
      }
      await posthog.shutdown(60_000);
    },
  ],
];

test.each(senders)(
  'libraries: a thousand events of a sender by %s whose clock is off and whose way is bad are delivered once each',
  async (library, rounds, send) => {
    const hourMs = 3_600_000;
    for (let round = 0; round < rounds; round += 1)
      way.faults.push({ kind: 'cut-after' }, { kind: 'answer', status: 503 });
    const user = `ledger-${library}`;
    const sent = Array.from({ length: 1_000 }, () => randomUUID());
    const startedMs = Date.now();
    const realNow = Date.now;
    // The library stamps events and requests by this clock; the stack has its own.
    const RealDate = Date;
    class SlowDate extends RealDate {
      constructor(...given: [] | [number | string]) {
        if (given.length === 0) super(realNow() - hourMs);
        else super(given[0]);
      }
    }
    globalThis.Date = SlowDate as DateConstructor;
    try {
      await send(sent, user);
    } finally {
      globalThis.Date = RealDate;
    }
    const ledger = async (): Promise<readonly DeliveredEvent[]> =>
      (await deliveredEvents(client, '/demo')).filter(of(user));
    await expect.poll(async () => new Set((await ledger()).map(({ event }) => event.id)).size, settle).toBe(1_000);
    const arrived = await ledger();
    expect(arrived).toHaveLength(1_000);
    expect(new Set(arrived.map(({ event }) => event.event_properties['messageId']))).toEqual(new Set(sent));
    // The sender's clock is an hour slow; the gateway corrects the times.
    for (const { event } of arrived) expect(event.time).toBeGreaterThan(startedMs - hourMs / 2);
    expect(way.faults).toEqual([]);
  },
);
