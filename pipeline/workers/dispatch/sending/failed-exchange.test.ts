import { expect, test } from 'vitest';
import { findDestinationKind } from '../../../../shared/destinations/registry.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import type { OutboundAnswer, OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import { deliver } from './deliver.ts';

const secret = 'k3y-that-opens';
const settings = { httpDestinationUrl: 'https://example.com/in?api_key=k3y-that-opens', batchSize: '10' };
const prepared = () => {
  const kind = findDestinationKind('HTTPDestination');
  if (kind === undefined) throw new Error('HTTPDestination is not offered');
  return kind.prepare({ ...settings, headers: JSON.stringify({ 'X-Secret': secret }) });
};

const event = (id: string, visitor: string, email = `${visitor}@example.com`): OutboundEvent => {
  const resolved = sampleEvent({ id });
  return { resolved: { ...resolved, visitor: { ...resolved.visitor, id: visitor, email } } };
};

async function exchangesOf(events: readonly OutboundEvent[], answer: Partial<OutboundAnswer>) {
  const sender = {
    send: async () => ({ kind: 'answered' as const, answer: { status: 400, headers: {}, body: '', ...answer } }),
    close: async () => undefined,
  };
  const { attempts } = await deliver(prepared(), sender, events);
  return attempts.map((attempt) => attempt?.exchange?.read());
}

test('failed exchange: request and answer are recorded, and a secret is removed wherever it is echoed', async () => {
  const [exchange] = await exchangesOf([event('e1', 'ann')], {
    headers: {
      'x-request-id': 'r-1',
      'retry-after': '7',
      'set-cookie': 'a=b',
      server: 'x',
      'x-ratelimit-remaining': '0',
    },
    body: JSON.stringify({
      error: { code: 'no', message: `key ${secret} is refused` },
      access_token: 'EAABfoo',
      jwt: 'eyJhbGciOiJI.eyJzdWIiOiIx.c2ln',
    }),
  });
  expect(exchange?.request).toMatchObject({
    method: 'POST',
    url: 'https://example.com/in?api_key=********',
    events: 1,
  });
  expect(exchange?.request.body).toContain('ann@example.com');
  expect(exchange?.request.headers).toMatchObject({ 'x-secret': '********' });
  expect(exchange?.answer).toMatchObject({ status: 400, code: 'no', message: 'key ******** is refused' });
  expect(exchange?.answer?.headers).toEqual({
    'x-request-id': 'r-1',
    'retry-after': '7',
    'x-ratelimit-remaining': '0',
  });
  expect(JSON.stringify(exchange)).not.toMatch(/k3y-that-opens|EAABfoo|eyJhbGci/);
});

test('failed exchange: bodies are cut to 2 KiB of whole characters, and no part of a secret is left at the cut', async () => {
  for (const filler of ['é'.repeat(1_020), 'é'.repeat(4_090), 'x'.repeat(8_185)]) {
    const [exchange] = await exchangesOf([event('e1', 'ann')], { body: `${filler}${secret}${'y'.repeat(20_000)}` });
    const { body = '', isCut } = exchange?.answer ?? {};
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(2_048);
    expect(isCut).toBe(true);
    expect(body).not.toMatch(/k3y|\uFFFD/);
  }
});

test('failed exchange: for a request of several visitors, its body and the contact data quoted in the answer are left out', async () => {
  const body = JSON.stringify({ message: 'ann@example.com and +43 664 1234567 are on the list' });
  const [exchange] = await exchangesOf([event('e1', 'ann'), event('e2', 'bob')], { status: 503, body });
  expect(exchange?.request).toMatchObject({ events: 2 });
  expect(exchange?.request.body).toBeUndefined();
  expect(JSON.stringify(exchange)).not.toMatch(/ann@|1234567/);
  expect(exchange?.answer?.message).toBe('…@… and # are on the list');
});

test('failed exchange: a successful attempt has no failed exchange, and an attempt without an answer has only the request', async () => {
  expect(await exchangesOf([event('e1', 'ann')], { status: 200 })).toEqual([undefined]);
  const failed = { kind: 'failed', failure: 'timeout', reason: 'network X', permanent: false } as const;
  const sender = { send: async () => failed, close: async () => undefined };
  const { attempts } = await deliver(prepared(), sender, [event('e1', 'ann')]);
  expect(attempts[0]?.exchange?.read()).toMatchObject({ request: { method: 'POST', events: 1 } });
  expect(attempts[0]?.exchange?.read().answer).toBeUndefined();
});
