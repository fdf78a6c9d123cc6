import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFaultDestination } from './stack/destination.ts';
import type { FaultDestination } from './stack/destination.ts';
import { judge } from './judge/judge.ts';
import type { Verdict } from './judge/judge.ts';
import { startLoad } from './visitors.ts';

/** Stands in for a pipeline, sound or broken: delivers the events of a request, by `send`, to the destination. */
type Path = (events: readonly Delivery[], send: (event: Delivery, key?: string) => Promise<void>) => Promise<void>;
type Delivery = { readonly body: string; readonly key: string; readonly count: number };

const enough = 400;
let destination: FaultDestination;
let server: Server;

beforeEach(async () => {
  destination = await startFaultDestination('checked');
});
afterEach(async () => {
  await destination.close();
  server.close();
  server.closeAllConnections();
});

/** Runs visitors against a scripted path instead of a stack, and returns the verdict. */
async function verdictOn(path: Path, answer: (count: number) => number = () => 200): Promise<Verdict> {
  let requests = 0;
  let events = 0;
  const send = async ({ body, key }: Delivery, other = key): Promise<void> => {
    await fetch(destination.url, { method: 'POST', body, headers: { 'idempotency-key': other } });
  };
  server = createServer((request, response) => {
    void readEvents(request).then(async (found) => {
      requests += 1;
      const status = answer(requests);
      const deliveries = found.map((event) => ({ ...event, count: (events += 1) }));
      // Delivers before it answers, so a visitor's events arrive in order: the visitor waits for the answer.
      if (status === 200) await path(deliveries, send);
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const load = startLoad({
    url: `http://127.0.0.1:${port}`,
    token: () => 'token',
    visitors: 8,
    ratePerS: 4_000,
    seed: 7,
  });
  await expect.poll(() => load.ledger.entries.length).toBeGreaterThan(enough);
  await load.stop();
  const { entries, refusals, answers } = load.ledger;
  return judge({ entries, refusals, answers, arrivals: { checked: destination.taken }, overMs: 0, stoppedMs: 0 });
}

/** The events of a visitor's request, in the form in which a destination receives them. */
async function readEvents(request: IncomingMessage): Promise<Omit<Delivery, 'count'>[]> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request as AsyncIterable<string>) text += chunk;
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
  const delivery = (fields: Fields): Omit<Delivery, 'count'> => ({
    key: fields.distinctId ?? `made-${Math.random()}`,
    body: JSON.stringify({
      event: {
        event: fields.event ?? '$identify',
        event_properties: fields.properties ?? {},
        context: fields.defaultProperties ?? {},
      },
      visitor: { external_id: fields.externalId, ...fields.userProperties },
    }),
  });
  if (pathname.startsWith('/pixel/')) {
    const { event, externalId, distinctId, ...properties } = Object.fromEntries(searchParams);
    return [delivery({ ...(distinctId === undefined ? {} : { distinctId }), event, externalId, properties } as Fields)];
  }
  const body = JSON.parse(text) as Fields & { readonly events?: readonly Fields[] };
  return (body.events ?? [body]).map(delivery);
}

type Fields = {
  readonly event?: string;
  readonly externalId?: string;
  readonly distinctId?: string;
  readonly properties?: object;
  readonly userProperties?: object;
  readonly defaultProperties?: object;
};

type Body = {
  readonly event: { readonly event_properties: Record<string, unknown> };
  readonly visitor: { readonly custom_properties?: Record<string, unknown> };
};

const inOrder: Path = async (events, send) => {
  for (const event of events) await send(event);
};

const counted = (verdict: Verdict) => ({ ...verdict.destinations['checked'], examples: undefined });

test('self-check: a path that keeps its promises passes, over every route', async () => {
  const verdict = await verdictOn(inOrder);
  expect(verdict.acknowledged).toBeGreaterThan(enough);
  expect(counted(verdict)).toMatchObject({ lost: 0, repeated: 0, doubled: 0, disordered: 0, invented: 0, mixed: 0 });
  expect(verdict.refused).toEqual({});
});

test('self-check: a path that loses one event in fifty after answering 200 is detected, and each loss is counted', async () => {
  let forgotten = 0;
  const verdict = await verdictOn(async (events, send) => {
    for (const event of events) {
      if (event.count % 50 === 0) forgotten += 1;
      else await send(event);
    }
  });
  expect(forgotten).toBeGreaterThan(0);
  expect(counted(verdict)).toMatchObject({ lost: forgotten, doubled: 0, disordered: 0 });
});

test('self-check: repeated deliveries are distinguished from deliveries repeated under another key', async () => {
  let [repeated, doubled] = [0, 0];
  const verdict = await verdictOn(async (events, send) => {
    for (const event of events) {
      await send(event);
      if (event.count % 50 === 0) {
        repeated += 1;
        await send(event);
      } else if (event.count % 50 === 25) {
        doubled += 1;
        await send(event, `${event.key}-again`);
      }
    }
  });
  expect(repeated * doubled).toBeGreaterThan(0);
  expect(counted(verdict)).toMatchObject({ lost: 0, repeated, doubled, disordered: 0 });
});

test('self-check: properties of another event in an event or a profile are detected, and each case is counted', async () => {
  let mixed = 0;
  const verdict = await verdictOn(async (events, send) => {
    for (const event of events) {
      const body = JSON.parse(event.body) as Body;
      const parts = [body.event.event_properties, body.visitor.custom_properties];
      const part = event.count % 50 === 0 ? parts[(event.count / 50) % 2] : undefined;
      if (part?.['own_a'] !== undefined) {
        mixed += 1;
        part['own_a'] = 'of another';
      }
      await send({ ...event, body: JSON.stringify(body) });
    }
  });
  expect(mixed).toBeGreaterThan(0);
  expect(counted(verdict)).toMatchObject({ lost: 0, invented: 0, mixed });
});

test('self-check: rows of a batch that arrive in another order are detected', async () => {
  let turned = 0;
  const verdict = await verdictOn(async (events, send) => {
    if (events.length > 1) turned += events.length - 1;
    await inOrder(events.toReversed(), send);
  });
  expect(turned).toBeGreaterThan(0);
  expect(counted(verdict)).toMatchObject({ lost: 0, disordered: turned });
});

test('self-check: refused requests are counted, and only acknowledged events can be lost', async () => {
  const verdict = await verdictOn(inOrder, (count) => (count % 10 === 0 ? 503 : 200));
  expect(verdict.refused['503']).toBeGreaterThan(0);
  expect(verdict.sent).toBeGreaterThan(verdict.acknowledged);
  expect(counted(verdict)).toMatchObject({ lost: 0, invented: 0, disordered: 0 });
});

test('self-check: a destination that refuses has received nothing, so every acknowledged event is lost', async () => {
  destination.behave({ kind: 'refuse', status: 503 });
  const refused = await verdictOn(inOrder);
  expect(counted(refused)).toMatchObject({ delivered: 0, lost: refused.acknowledged });
});
