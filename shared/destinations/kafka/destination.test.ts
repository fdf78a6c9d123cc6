import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { kafka } from './destination.ts';

const example = kafka.exampleSettings;
const prepared = kafka.prepare(example);
const events = ['1', '2'].map((id) => ({ resolved: sampleEvent({ id }) }));
const noLogin = { saslMechanism: 'none', username: null, password: null };
const requestBy = (own: object) => kafka.prepare({ ...example, ...own }).buildRequest(events, 0);
const read = (status: number, body: unknown, of = events) =>
  prepared.readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, of)?.[0];

describe('Kafka', () => {
  it('request: the URL contains the brokers and the login mechanism, but not the login', () => {
    const brokers = 'one.example.com:9093, two.example.com:9094,three.example.com';
    const { url, headers } = requestBy({ brokers, saslMechanism: 'scram-sha-512' });
    expect(decodeURIComponent(url)).toBe(
      'kafkas://one.example.com:9093?brokers=two.example.com:9094,three.example.com&sasl=scram-sha-512',
    );
    expect(headers['authorization']).toBe(`Basic ${Buffer.from('sluice:example-password').toString('base64')}`);
    const open = requestBy({ ...noLogin, security: 'none' });
    expect([open.url, open.headers['authorization']]).toEqual(['kafka://broker-1.example.com:9092', undefined]);
  });

  it('request: the event and its visitor, with the visitor id as key, hashed if it is too long', () => {
    const resolved = sampleEvent();
    const other = { resolved: { ...resolved, visitor: { ...resolved.visitor, id: 'x'.repeat(300) } } };
    const { body = '' } = prepared.buildRequest([...events, other], 0);
    const { messages } = JSON.parse(body) as { messages: { key: string; value: string }[] };
    expect(messages.map(({ key }) => key)).toEqual([
      'sample-visitor',
      'sample-visitor',
      expect.stringMatching(/^[\da-f]{64}$/),
    ]);
    const { event, visitor } = sampleEvent({ id: '2' });
    expect(JSON.parse(messages[1]?.value ?? '')).toEqual({ event, visitor });
  });

  it('answer: an error type becomes the reason, unless one of several messages may have caused it', () => {
    expect(read(200, { stored: 2 })).toEqual({ kind: 'delivered' });
    expect(read(200, { stored: 1 })?.kind).toBe('retry');
    const error = 'INVALID_RECORD';
    expect(read(422, { error })).toBeUndefined();
    expect(read(422, { error }, events.slice(0, 1))).toEqual({ kind: 'reject', reason: error });
    expect(read(401, { error: 'TOPIC_AUTHORIZATION_FAILED' })).toMatchObject({ kind: 'retry', refusesAccess: true });
    expect(read(503, { error: 'NOT_ENOUGH_REPLICAS' })).toEqual({ kind: 'retry', reason: 'NOT_ENOUGH_REPLICAS' });
  });

  it.each([
    ['brokers', { brokers: 'https://broker.example.com' }],
    ['brokers', { brokers: 'a.example.com:9092, b.example.com:99999' }],
    ['brokers', { brokers: '[2001:db8::1]:9092' }],
    ['brokers', { brokers: Array(11).fill('a:9092').join(',') }],
    ['topic', { topic: 'a topic' }],
    ['password', { password: null, username: null }],
    ['password', { password: null }],
    ['saslMechanism', { saslMechanism: 'none' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => kafka.prepare({ ...example, ...own })).toThrow(`settings.${key} `);
  });
});
