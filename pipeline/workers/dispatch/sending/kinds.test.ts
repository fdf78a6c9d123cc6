import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretSettings } from '../../../../shared/destinations/mask-secrets.ts';
import { destinationKinds } from '../../../../shared/destinations/registry.ts';
import { byHttp, prepareToSendTo } from '../../../../shared/destinations/testing/send-to.ts';
import { sampleEvent, sampleEventFor } from '../../../../shared/destinations/sdk/sample-event.ts';
import { createEgressRules } from '../../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../../../shared/egress/sender.ts';
import type { Sender } from '../../../../shared/egress/sender.ts';
import { startScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import type { DestinationRequest, ScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import { deliver } from './deliver.ts';
import type { Delivered } from './deliver.ts';

type Answer = { status: number; headers?: Record<string, string>; body?: string };

let destination: ScriptedDestination;
let sender: Sender;
let origin: string;

beforeAll(async () => {
  destination = await startScriptedDestination();
  origin = destination.url;
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = { connectionsMax: 2, connectTimeoutMs: 30_000, headersTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
  sender = byHttp(createSender({ rules, lookupFor: createGuardedLookup(rules), limits }));
});
afterAll(async () => {
  await sender.close();
  await destination.close();
});

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  const send = async (given: Answer): Promise<Delivered> => {
    destination.answer(() => given);
    const now = Date.now();
    const resolved = sampleEventFor(kind, { time: now, received_at: now });
    return deliver(prepareToSendTo(kind, `${origin}/to`), sender, [{ resolved }]);
  };

  test('success: the whole request arrived, and the event is delivered', async () => {
    const before = destination.requests.length;
    const { attempts, ...said } = await send(kind.exampleSuccess ?? { status: 200, body: '' });
    const arrived = destination.requests.slice(before);
    expect(arrived).toHaveLength(1);
    const [{ method, path, headers, body }] = arrived as [DestinationRequest];
    expect(method).toMatch(/^(GET|POST|PUT|PATCH)$/);
    expect(path).toMatch(/^\/to/);
    expect(headers).toMatchObject({ 'idempotency-key': expect.any(String) });
    if (method === 'GET') {
      expect({ body, path }).toEqual({ body: '', path: expect.stringMatching(/\/to\S{20,}/) });
    } else {
      expect(body).not.toBe('');
      expect(headers).toMatchObject({ 'content-type': expect.stringContaining('/') });
    }
    expect(attempts.map((attempt) => attempt?.outcome)).toEqual([{ kind: 'delivered' }]);
    expect(said).toEqual({ requests: 1, isUp: true, isOverloaded: false, isAccessRefused: false });
  });

  test('400: the event is refused', async () => {
    const { attempts, isUp } = await send({ status: 400, body: 'no' });
    expect(attempts).toEqual([
      {
        outcome: { kind: 'reject', reason: expect.any(String) },
        request: { method: expect.stringMatching(/^(GET|POST)$/), host: new URL(origin).host, status: 400 },
        exchange: expect.anything(),
      },
    ]);
    expect(isUp).toBe(true);
    const exchange = attempts[0]?.exchange?.read();
    expect(exchange).toMatchObject({ request: { events: 1 }, answer: { status: 400, body: 'no', message: 'no' } });
    const secrets = secretSettings(kind, kind.exampleSettings).filter((secret) => secret.length > 3);
    expect(secrets.filter((secret) => JSON.stringify(exchange).includes(secret))).toEqual([]);
  });

  test.each([401, 403])('%i: the key counts as refused, and the event is retried', async (status) => {
    const { attempts, isUp, isAccessRefused } = await send({ status, body: '{}' });
    expect(attempts[0]?.outcome).toMatchObject({ kind: 'retry', refusesAccess: true });
    expect([isUp, isAccessRefused]).toEqual([false, true]);
  });

  test('429: the event is tried again when the platform says, and the destination gets fewer requests', async () => {
    const { attempts, isOverloaded } = await send({ status: 429, headers: { 'retry-after': '7' }, body: '{}' });
    expect(attempts[0]?.outcome).toMatchObject({ kind: 'retry', afterMs: 7_000 });
    expect(isOverloaded).toBe(true);
  });

  test('503: the event is retried, and the destination counts as not up', async () => {
    const { attempts, isUp } = await send({ status: 503, body: '<html>' });
    expect(attempts[0]?.outcome.kind).toBe('retry');
    expect(isUp).toBe(false);
  });
});

describe('kinds that report a refused key without a 401', () => {
  test.each<[string, number, object]>([
    ['Facebook', 400, { error: { code: 190 } }],
    ['Facebook', 400, { error: { code: 100, error_subcode: 33 } }],
    ...[40_105, 40_113, 40_117, 40_118, 40_124, 40_125, 40_130].map((code): [string, number, object] => [
      'TikTok',
      200,
      { code },
    ]),
    ['AWSKinesis', 400, { __type: 'UnrecognizedClientException' }],
    ['Amplitude', 400, { code: 400, error: 'Invalid API key: x' }],
  ])('%s, %i, %j: the key counts as refused after one request', async (id, status, body) => {
    const kind = destinationKinds.find(({ descriptor }) => descriptor.id === id);
    if (kind === undefined) throw new Error(`there is no ${id}`);
    destination.answer(() => ({ status, body: JSON.stringify(body) }));
    const events = ['1', '2'].map(() => ({ resolved: sampleEvent({ time: Date.now(), received_at: Date.now() }) }));
    const said = await deliver(prepareToSendTo(kind, `${origin}/to`), sender, events.slice(0, 2));
    expect(said).toMatchObject({ requests: 1, isUp: false, isAccessRefused: true });
    expect(said.attempts.map((attempt) => attempt?.outcome.kind)).toEqual(['retry', 'retry']);
  });
});

describe('kinds that report too many requests without a 429', () => {
  const throttledRecord = { ErrorCode: 'ProvisionedThroughputExceededException' };
  test.each<[string, number, object, boolean]>([
    ...[40_100, 40_132, 61_000].map((code): [string, number, object, boolean] => ['TikTok', 200, { code }, false]),
    ['Facebook', 400, { error: { code: 4 } }, false],
    ['AWSKinesis', 400, { __type: 'ProvisionedThroughputExceededException' }, false],
    ['AWSKinesis', 200, { Records: [{ SequenceNumber: '1' }, throttledRecord] }, true],
  ])('%s, %i, %j: gets fewer requests', async (id, status, body, isUp) => {
    const kind = destinationKinds.find(({ descriptor }) => descriptor.id === id);
    if (kind === undefined) throw new Error(`there is no ${id}`);
    destination.answer(() => ({ status, body: JSON.stringify(body) }));
    const events = ['1', '2'].map(() => ({ resolved: sampleEvent({ time: Date.now(), received_at: Date.now() }) }));
    const said = await deliver(prepareToSendTo(kind, `${origin}/to`), sender, events);
    expect(said).toMatchObject({ requests: 1, isUp, isOverloaded: true });
  });
});
