import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { startRouteRig } from '../../testing/route-rig.ts';
import type { RouteRig } from '../../testing/route-rig.ts';
import { testSources } from '../../testing/test-sources.ts';
import { nullBareNumbers } from '../../payload/lenient-value.ts';
import { capturedRequests } from './testing/captured-request.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

type Message = Readonly<Record<string, unknown>>;

const eventNames: Readonly<Record<string, string>> = {
  page: 'Page Viewed',
  screen: 'Screen Viewed',
  group: '$group',
  alias: '$alias',
};

// The gateway does not serve paths that a user chose, or paths below a prefix.
const knownPath = /^\/{1,2}v1\//;
const requests = capturedRequests(testSources.server.token);
const known = requests.filter(({ path }) => knownPath.test(path));

test('captures: there are requests of all three libraries', () => {
  expect(new Set(known.map(({ library }) => library)).size).toBe(3);
  expect(known.length).toBeGreaterThan(60);
});

test.each(known.map((request) => [`${request.library}: ${request.call}`, request] as const))(
  'captures: %s',
  async (_, { path, headers, payload, text }) => {
    const before = new Set((await rig.log.envelopes()).map(({ id, at }) => `${id} ${at}`));
    const answer = await fetch(`${rig.gateway.url}${path}`, { method: 'POST', headers, body: new Uint8Array(payload) });
    expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    const stored = (await rig.log.envelopes()).filter(({ id, at }) => !before.has(`${id} ${at}`));
    const { batch, sentAt, context } = JSON.parse(nullBareNumbers(text)) as {
      readonly batch: readonly Message[];
      readonly sentAt: string;
      readonly context?: Message;
    };
    expect(stored).toHaveLength(batch.length);
    for (const message of batch) {
      const event = stored.find(({ id }) => id === message['messageId']);
      if (event === undefined) throw new Error(`${String(message['messageId'])} is not stored`);
      expectTranslated(event, message, { sentAt, context });
    }
  },
);

function expectTranslated(
  { kind, at, body }: Envelope,
  message: Message,
  batch: { readonly sentAt: string; readonly context: Message | undefined },
): void {
  const type = String(message['type']);
  expect(kind).toBe(type === 'identify' ? 'identify' : 'track');
  if (type !== 'identify') expect(body['event']).toBe(eventNames[type] ?? message['event']);
  const text = (value: unknown): unknown => (value === null || value === '' ? undefined : value);
  if (type === 'alias') {
    expect(body).toMatchObject({ userId: message['previousId'], externalId: message['previousId'] });
    expect(body['userProperties']).toEqual({ external_id: message['userId'] });
  } else {
    expect(body['userId']).toBe(text(message['anonymousId']));
    expect(body['externalId']).toBe(text(message['userId']));
  }
  // To the gateway the sender's clock appears to be behind by the age of the capture.
  const happenedMs = Date.parse(String(message['timestamp']));
  const { sentAt = batch.sentAt } = message as { readonly sentAt?: string };
  const correctedMs = happenedMs + at - Date.parse(sentAt);
  const windowStartMs = at - 7 * 86_400_000;
  const defaults = body['defaultProperties'] as Message;
  expect(body['time']).toBe(Math.max(correctedMs, windowStartMs));
  expect(defaults['time_clamped_from']).toBe(correctedMs < windowStartMs ? correctedMs : undefined);
  const context = { ...batch.context, ...(message['context'] as Message | undefined) };
  expectContext(defaults, body['identityContext'] as Message | undefined, context);
  const properties = message['properties'] as Message | undefined;
  if (type === 'track') expect(body['eventProperties']).toEqual(withoutNulls(properties ?? {}));
  if (type === 'group') {
    const groupId = String(message['groupId']);
    expect(body['userProperties']).toEqual({ custom_properties: { group_id: groupId } });
    expect(body['eventProperties']).toEqual({ ...(message['traits'] as Message | undefined), group_id: groupId });
  }
  if (type === 'identify') {
    const traits = { ...(context['traits'] as Message | undefined), ...(message['traits'] as Message | undefined) };
    const { email } = body['userProperties'] as Message;
    expect(email).toBe(traits['email']);
  }
}

function expectContext(defaults: Message, identity: Message | undefined, context: Message): void {
  const library = context['library'] as Message;
  expect([defaults['library_name'], defaults['library_version']]).toEqual([library['name'], library['version']]);
  const page = context['page'] as Message | undefined;
  if (page !== undefined) {
    expect(defaults['current_url']).toBe(page['url']);
    expect(defaults['pathname']).toBe(page['path']);
    expect(defaults['host']).toBe('example.com');
  }
  const campaign = context['campaign'] as Message | undefined;
  if (campaign !== undefined) {
    expect(defaults['utm_campaign']).toBe(campaign['name']);
    expect(defaults['utm_source']).toBe(campaign['source']);
  }
  expect(identity?.['ip']).toBe(context['ip']);
  expect(identity?.['userAgent']).toBe(context['userAgent']);
}

/** Null characters are removed from texts, because no store downstream would accept them. */
const withoutNulls = (value: Message): Message =>
  JSON.parse(JSON.stringify(value).replaceAll(String.raw`\u0000`, '')) as Message;

test('captures: a request to a path that the gateway does not serve gets a 404', async () => {
  const elsewhere = requests.filter(({ path }) => !knownPath.test(path));
  expect(elsewhere.length).toBeGreaterThan(2);
  for (const { path, headers, payload } of elsewhere) {
    const answer = await fetch(`${rig.gateway.url}${path}`, { method: 'POST', headers, body: new Uint8Array(payload) });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.json()).toMatchObject({ code: 'not_found', message: 'not found' });
  }
});

test('captures: bodies with numbers that are no JSON are counted', async () => {
  expect(await rig.gateway.metrics()).toMatch(/^sluice_gateway_mended_bodies_total 2$/m);
});
