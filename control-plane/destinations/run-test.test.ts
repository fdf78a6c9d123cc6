import { describe, expect, test } from 'vitest';
import { UnfitEventError } from '../../shared/destinations/sdk/destination.ts';
import type { PreparedDestination } from '../../shared/destinations/sdk/destination.ts';
import { httpDestination } from '../../shared/destinations/http-destination/destination.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import type { SendResult, Sender } from '../../shared/egress/sender.ts';
import { createTestEvent, runDestinationTest } from './run-test.ts';
import { secretSettings } from '../../shared/destinations/mask-secrets.ts';

const testEvent = () => createTestEvent('account', {}, {}, Date.now());

/** Echoes the request in its answer, as some platforms do. */
const echo: Sender = {
  send: async ({ url, headers, body }) => {
    const answer = { status: 200, headers: { ...headers }, body: JSON.stringify({ url, headers, body }) };
    return { kind: 'answered', answer };
  },
  close: async () => undefined,
};

const sending = (result: SendResult): Sender => ({ ...echo, send: async () => result });

const testOf = (prepared: Partial<PreparedDestination>) => ({
  kind: httpDestination,
  settings: {},
  event: testEvent(),
  prepared: {
    batchEventsMax: 1,
    buildRequest: () => ({ method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' }) as const,
    ...prepared,
  },
});

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  test('destination test: shows no secret of its settings, plain or in base64', async () => {
    const settings = kind.exampleSettings;
    const result = await runDestinationTest(
      { kind, settings, prepared: kind.prepare(settings), event: testEvent() },
      echo,
    );
    expect(['delivered', 'retry', 'reject', 'skipped']).toContain(result.outcome);
    const shown = JSON.stringify(result);
    const decoded = (shown.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).map((text) => Buffer.from(text, 'base64').toString());
    for (const secret of secretSettings(kind, settings)) {
      expect(shown).not.toContain(JSON.stringify(secret).slice(1, -1));
      // Decoded text can contain a shorter secret by chance.
      if (secret.length >= 6) for (const text of decoded) expect(text).not.toContain(secret);
    }
  });
});

describe('destination test: a secret header that is made from a template', () => {
  const headersShown = async (headers: Readonly<Record<string, string>>) => {
    const kind = destinationKinds.find(({ descriptor }) => descriptor.id === 'HTTPCustomRequest') ?? httpDestination;
    const settings = {
      url: 'https://example.com/in?at={{event.event_properties.a}}',
      body: '{"name":"{{event.event}}","a":"{{event.event_properties.a}}"}',
      headers: JSON.stringify(headers),
    };
    const properties = { a: 'alpha', list: ['beta'] };
    const own = createTestEvent('account', kind, { event: 'Signed Up', properties }, Date.now());
    const prepared = kind.prepare(settings);
    const result = await runDestinationTest({ kind, settings, prepared, event: own }, echo);
    expect(result.outcome).toBe('delivered');
    return result;
  };

  test.each([
    ['before a placeholder', 'TOPSECRET-{{event.event_properties.a}}'],
    ['after a placeholder', '{{event.event_properties.a}}-TOPSECRET'],
    ['between placeholders', '{{event.event_properties.a}}TOPSECRET{{event.event}}'],
    ['beside a placeholder that has nothing', 'TOPSECRET{{event.event_properties.none}}'],
    ['after a scheme', 'Bearer TOPSECRET-{{event.event_properties.a}}'],
    ['in parts', 'TOPSECRET{{event.event_properties.none}}{{event.event_properties.list}}TOPSECRET'],
    ['around a brace that closes nowhere', 'TOPSECRET{{event.event_properties.a}}{{TOPSECRET'],
    ['without a placeholder', 'TOPSECRET'],
  ])('a literal %s is masked in the request and in the answer', async (_name, template) => {
    const result = await headersShown({ 'X-Partner': template, 'X-Short': 'k{{event.event_properties.a}}' });
    expect(JSON.stringify(result)).not.toMatch(/TOPSECRET|kalpha/);
    const masked = { 'x-partner': expect.stringMatching(/^(Bearer )?\*{8}$/), 'x-short': '********' };
    expect(result.request?.headers).toMatchObject(masked);
    expect(result.answer?.headers).toMatchObject(masked);
    // Values of the event are not masked where they occur outside of the secret header.
    expect(JSON.parse(result.request?.body ?? '')).toEqual({ name: 'Signed Up', a: 'alpha' });
    expect(result.request?.url).toBe('https://example.com/in?at=alpha');
  });

  test('the whole value is masked, even if the template has no literal text', async () => {
    const { request } = await headersShown({ 'X-Event': '{{event.event}}', 'Content-Type': 'application/json' });
    expect(request?.headers).toMatchObject({ 'x-event': '********', 'content-type': 'application/json' });
    expect(request?.body).toContain('Signed Up');
  });
});

test('destination test: an event that the destination kind cannot use is not sent', async () => {
  expect(await runDestinationTest(testOf({ accepts: () => false }), echo)).toMatchObject({
    outcome: 'skipped',
    reason: expect.stringContaining('the platform has no matching event'),
    request: null,
    answer: null,
  });
});

test('destination test: if the platform cannot take the event, the reason says what the event lacks', async () => {
  const buildRequest = (): never => {
    throw new UnfitEventError('the event has no e-mail address');
  };
  expect(await runDestinationTest(testOf({ buildRequest }), echo)).toMatchObject({
    outcome: 'reject',
    reason: 'the event has no e-mail address',
    request: null,
  });
});

test('destination test: templates may take as much work as in a dispatcher', async () => {
  const kind = destinationKinds.find(({ descriptor }) => descriptor.id === 'HTTPCustomRequest') ?? httpDestination;
  const settings = { url: 'https://example.com/', body: `["${'{{event.event_properties.a}}'.repeat(100)}"]` };
  const event = createTestEvent('account', kind, { properties: { a: 'x'.repeat(30_000) } }, Date.now());
  const result = await runDestinationTest({ kind, settings, prepared: kind.prepare(settings), event }, echo);
  expect(result).toMatchObject({ outcome: 'reject', reason: expect.stringContaining('units of work'), request: null });
});

test('destination test: the platform’s result for the event decides the outcome, not the HTTP status', async () => {
  const readAnswer = () => [{ kind: 'reject', reason: 'unknown field' }] as const;
  expect(await runDestinationTest(testOf({ readAnswer }), echo)).toMatchObject({
    outcome: 'reject',
    reason: 'unknown field',
    answer: { status: 200 },
  });
});

test.each([
  [false, 'retry'],
  [true, 'reject'],
])('destination test: without an answer, permanent %s: the outcome is %s', async (permanent, outcome) => {
  const failed = sending({ kind: 'failed', failure: 'connection', reason: 'network ECONNREFUSED', permanent });
  expect(await runDestinationTest(testOf({}), failed)).toMatchObject({
    outcome,
    reason: 'network ECONNREFUSED',
    request: { body: '{}' },
    answer: null,
  });
});
