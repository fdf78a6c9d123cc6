import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OfferedDestination, OfferedKind } from '../../../../shared/destinations/common-settings.ts';
import { destinationKinds } from '../../../../shared/destinations/registry.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { createEgressRules } from '../../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../../../shared/egress/sender.ts';
import type { Sender } from '../../../../shared/egress/sender.ts';
import { deliver } from './deliver.ts';
import type { Delivered } from './deliver.ts';

type Arrived = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
type Answer = { status: number; headers?: Record<string, string>; body?: string };

let server: Server;
let sender: Sender;
let origin: string;
let arrived: Arrived[] = [];
let answer: Answer = { status: 200 };

beforeAll(async () => {
  server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      arrived.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = { connectionsMax: 2, connectTimeoutMs: 30_000, headersTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
  sender = createSender({ rules, lookupFor: createGuardedLookup(rules), limits });
});
afterAll(async () => {
  await sender.close();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});
beforeEach(() => {
  arrived = [];
});

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  const send = async (given: Answer): Promise<Delivered> => {
    answer = given;
    const now = Date.now();
    const resolved = sampleEvent({ time: now, received_at: now });
    return deliver(prepareFor(kind, `${origin}/to`), sender, [{ resolved }]);
  };

  it('a good answer: the request arrived whole, and the event is delivered', async () => {
    const { attempts, ...said } = await send(kind.exampleSuccess ?? { status: 200, body: '' });
    expect(arrived).toHaveLength(1);
    const [{ method, path, headers, body }] = arrived as [Arrived];
    expect(method).toMatch(/^(POST|PUT|PATCH)$/);
    expect(path).toMatch(/^\/to/);
    expect(body).not.toBe('');
    expect(headers).toMatchObject({
      'content-type': expect.stringContaining('/'),
      'idempotency-key': expect.any(String),
    });
    expect(attempts.map((attempt) => attempt?.outcome)).toEqual([{ kind: 'delivered' }]);
    expect(said).toEqual({ requests: 1, isUp: true, isOverloaded: false });
  });

  it('400: the event is refused', async () => {
    const { attempts, isUp } = await send({ status: 400, body: 'no' });
    expect(attempts).toEqual([
      {
        outcome: { kind: 'reject', reason: expect.any(String) },
        request: { method: 'POST', host: new URL(origin).host, status: 400 },
      },
    ]);
    expect(isUp).toBe(true);
  });

  it('429: it is tried again when the platform says, and asked less', async () => {
    const { attempts, isOverloaded } = await send({ status: 429, headers: { 'retry-after': '7' }, body: '{}' });
    expect(attempts[0]?.outcome).toMatchObject({ kind: 'retry', afterMs: 7_000 });
    expect(isOverloaded).toBe(true);
  });

  it('503: it is tried again, and the destination is not up', async () => {
    const { attempts, isUp } = await send({ status: 503, body: '<html>' });
    expect(attempts[0]?.outcome.kind).toBe('retry');
    expect(isUp).toBe(false);
  });
});

describe('kinds that say otherwise than by a 429 that too much is asked', () => {
  const throttledRecord = { ErrorCode: 'ProvisionedThroughputExceededException' };
  it.each([
    ['TikTok', 200, { code: 40_100 }, false],
    ['Facebook', 400, { error: { code: 4 } }, false],
    ['AWSKinesis', 400, { __type: 'ProvisionedThroughputExceededException' }, false],
    ['AWSKinesis', 200, { Records: [{ SequenceNumber: '1' }, throttledRecord] }, true],
  ])('%s, %i, %j: is asked less', async (id, status, body, isUp) => {
    const kind = destinationKinds.find(({ descriptor }) => descriptor.id === id);
    if (kind === undefined) throw new Error(`there is no ${id}`);
    answer = { status, body: JSON.stringify(body) };
    const events = ['1', '2'].map(() => ({ resolved: sampleEvent({ time: Date.now(), received_at: Date.now() }) }));
    const said = await deliver(prepareFor(kind, `${origin}/to`), sender, events);
    expect(said).toMatchObject({ requests: 1, isUp, isOverloaded: true });
  });
});

/** The kind with its example settings, sending to `url`. */
function prepareFor({ descriptor, exampleSettings, prepare }: OfferedKind, url: string): OfferedDestination {
  const place = ['baseUrl', 'url', 'httpDestinationUrl'].find((key) =>
    descriptor.settings.some((setting) => setting.key === key),
  );
  if (place === undefined) throw new Error(`${descriptor.id} has no setting for where it sends`);
  return prepare({ ...exampleSettings, [place]: url });
}
