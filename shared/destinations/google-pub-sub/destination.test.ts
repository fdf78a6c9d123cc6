import jws from 'jws';
import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { googlePubSub } from './destination.ts';
import { exampleServiceAccount } from '../sdk/google-service-account.ts';

const nowMs = Date.parse('2026-01-31T10:20:30Z');
const serviceAccountKey = exampleServiceAccount();
const prepared = googlePubSub.prepare({ topic: 'events', serviceAccountKey });
const events = ['1', '2'].map((id) => ({ resolved: sampleEvent({ id }) }));
const tokenAt = (ms: number) =>
  prepared.buildRequest(events, ms).headers['authorization']?.slice('Bearer '.length) ?? '';

type Message = { data: string; attributes: Record<string, string>; orderingKey?: string };
const messagesOf = (body: string | undefined) => (JSON.parse(body ?? '') as { messages: Message[] }).messages;

describe('GooglePubSub', () => {
  it('request: publishes the event and its visitor to the topic', () => {
    const { url, body } = prepared.buildRequest(events, nowMs);
    expect(url).toBe('https://pubsub.googleapis.com/v1/projects/example-project/topics/events:publish');
    const [, second] = messagesOf(body);
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(Buffer.from(second?.data ?? '', 'base64').toString())).toEqual({ event, visitor });
    expect(second).toEqual({ data: second?.data, attributes: { event: 'Order Completed', event_id: '2' } });
  });

  it('request: names too long for an attribute are hashed', () => {
    const long = [{ resolved: sampleEvent({ event: 'ä'.repeat(600) }) }];
    expect(messagesOf(prepared.buildRequest(long, nowMs).body)[0]?.attributes['event']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('request: a name that Pub/Sub reserves is no attribute', async () => {
    const setting = { topic: 'events', serviceAccountKey, attributeProperties: 'goog_plan, plan' };
    const event = { resolved: sampleEvent({ event_properties: { goog_plan: 'pro', plan: 'pro' } }) };
    const request = googlePubSub.prepare(setting).buildRequest([event], nowMs);
    const [message] = messagesOf(request.body);
    expect(Object.keys(message?.attributes ?? {})).toEqual(['plan', 'event', 'event_id']);
    const reserved = { ...message, attributes: { goog_plan: 'pro' } };
    const { judge } = await googlePubSub.loadPlatform();
    expect(judge({ ...request, body: JSON.stringify({ messages: [reserved] }) }).problems).not.toEqual([]);
  });

  it('order by visitor: each message has its visitor as ordering key, and events are grouped by visitor', () => {
    const ordered = googlePubSub.prepare({ topic: 'events', serviceAccountKey, orderByVisitor: true });
    expect(messagesOf(ordered.buildRequest(events, nowMs).body)[0]?.orderingKey).toBe('sample-visitor');
    expect(ordered.groupOf?.({ resolved: sampleEvent() })).toBe('sample-visitor');
    expect(prepared.groupOf).toBeUndefined();
  });

  it('token: is signed by the account for the API, for an hour around the time of the attempt', () => {
    const { private_key } = JSON.parse(serviceAccountKey) as { private_key: string };
    const publicKey = createPublicKey(private_key).export({ type: 'spki', format: 'pem' });
    const token = tokenAt(nowMs);
    expect(jws.verify(token, 'RS256', String(publicKey))).toBe(true);
    const { header, payload } = jws.decode(token, { json: true }) ?? {};
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'example' });
    const email = 'sluice@example-project.iam.gserviceaccount.com';
    const { iat, exp, ...claims } = payload as { iat: number; exp: number };
    expect(claims).toEqual({ iss: email, sub: email, aud: 'https://pubsub.googleapis.com/google.pubsub.v1.Publisher' });
    expect(exp - iat).toBe(3_600);
    for (const minute of [0, 9, 10, 29, 30, 59]) {
      const ms = Date.parse('2026-01-31T10:00:00Z') + minute * 60_000;
      const made = jws.decode(tokenAt(ms), { json: true })?.payload as { iat: number; exp: number };
      expect(made.iat).toBeLessThanOrEqual(ms / 1_000 - 60);
      expect(made.exp).toBeGreaterThanOrEqual(ms / 1_000 + 29 * 60);
    }
  });

  it('token: is the same within half an hour, in whatever order attempts are made', () => {
    const before = tokenAt(nowMs);
    expect(tokenAt(nowMs + 60_000)).toBe(before);
    expect(tokenAt(nowMs + 30 * 60_000)).not.toBe(before);
    expect(tokenAt(nowMs)).toBe(before);
  });

  it.each([
    ['topic', { topic: 'a/b' }],
    ['projectId', { projectId: 'a/../b' }],
    ['serviceAccountKey', { serviceAccountKey: 'no json' }],
    ['serviceAccountKey', { serviceAccountKey: '[]' }],
    ['serviceAccountKey', { serviceAccountKey: '{"client_email": "a@example.com"}' }],
    ['serviceAccountKey', { serviceAccountKey: '{"client_email": "a@example.com", "private_key": "-----BEGIN"}' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => googlePubSub.prepare({ topic: 'events', serviceAccountKey, ...own })).toThrow(`settings.${key} `);
  });
});
