import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { smtp } from './destination.ts';

const example = smtp.exampleSettings;
const events = [{ resolved: sampleEvent() }];
const requestBy = (own: object) => smtp.prepare({ ...example, ...own }).buildRequest(events, 0);
const sentBy = (own: object) => JSON.parse(requestBy(own).body ?? '') as Readonly<Record<string, unknown>>;
const read = (status: number, body: unknown) =>
  smtp.prepare(example).readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, events);

describe('SMTP', () => {
  it('request: security chooses scheme and port, and a login is sent only if it is set', () => {
    expect(requestBy({}).url).toBe('smtp+starttls://smtp.example.com:587');
    expect(requestBy({ security: 'tls' }).url).toBe('smtps://smtp.example.com:465');
    expect(requestBy({ security: 'none', port: '2525' }).url).toBe('smtp://smtp.example.com:2525');
    expect(requestBy({}).headers).not.toHaveProperty('authorization');
    const { authorization } = requestBy({ username: 'shop', password: 'secret' }).headers;
    expect(authorization).toBe(`Basic ${Buffer.from('shop:secret').toString('base64')}`);
  });

  it('request: without templates the message has the event and its properties; the Message-ID depends only on the event', () => {
    const { subject, text, messageId } = sentBy({});
    expect(subject).toBe('Order Completed');
    expect(text).toBe('Order Completed\n\n{"order_id":"A-1001","value":42.5,"currency":"EUR"}');
    expect(messageId).toMatch(/^<[0-9a-f]{40}@example\.com>$/);
    expect(sentBy({ subject: 'Other' })['messageId']).toBe(messageId);
  });

  it('request: a recipient who is named twice gets one message', () => {
    expect(sentBy({ to: '{{visitor.email}}, ada@example.com, {{visitor.missing}}' })['to']).toEqual([
      'ada@example.com',
    ]);
  });

  it.each([
    [200, { accepted: 1, rejected: 1 }, { kind: 'delivered' }],
    [200, { accepted: 0 }, { kind: 'retry', reason: 'the response has no result for the message' }],
    [401, { code: 535 }, { kind: 'retry', reason: 'SMTP 535', refusesAccess: true }],
    [503, { code: 451, enhanced: '4.7.1' }, { kind: 'retry', reason: 'SMTP 451 4.7.1' }],
    [422, { code: 550, enhanced: '5.1.1' }, { kind: 'reject', reason: 'SMTP 550 5.1.1' }],
    [413, { code: 552 }, { kind: 'reject', reason: 'SMTP 552' }],
  ])('answer: %i %j', (status, body, outcome) => {
    expect(read(status, body)).toEqual([outcome]);
  });

  it.each([
    ['host', { host: 'smtp.example.com:25' }],
    ['port', { port: '70000' }],
    ['from', { from: 'nobody' }],
    ['from', { from: 'a@example.com>\r\nBcc: <b@example.com' }],
    ['to', { to: Array(11).fill('a@example.com').join(',') }],
    ['replyTo', { replyTo: 'x' }],
    ['password', { username: 'shop' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => smtp.prepare({ ...example, ...own })).toThrow(`settings.${key} `);
  });
});
