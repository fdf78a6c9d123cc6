import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ByteWriter } from '../../json/byte-writer.ts';
import { eventJson } from '../sdk/event.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { httpDestination } from './destination.ts';

const url = 'https://example.com/events';
const one = [{ resolved: sampleEvent() }];

describe('HTTPDestination', () => {
  it('body: the event with its visitor', () => {
    const request = httpDestination.prepare({ httpDestinationUrl: url }).buildRequest(one, 0);
    const { event, visitor } = sampleEvent();
    expect(JSON.parse(request.body ?? '')).toEqual({ event, visitor });
    expect(request).toMatchObject({ method: 'POST', url, headers: { 'content-type': 'application/json' } });
  });

  it('body: is an array if the batch size is above 1, even for one event', () => {
    const prepared = httpDestination.prepare({ httpDestinationUrl: url, batchSize: '10' });
    expect(prepared.batchEventsMax).toBe(10);
    expect(JSON.parse(prepared.buildRequest(one, 0).body ?? '')).toHaveLength(1);
    const two = [...one, { resolved: sampleEvent({ id: 'second' }) }];
    const request = prepared.buildRequest(two, 0);
    expect(JSON.parse(request.body ?? '')).toHaveLength(2);
    expect(request.headers['idempotency-key']).toMatch(/^batch-[0-9a-f]{40}$/);
  });

  it('body: events given as bytes make the same body and signature as text; with a mapped event the body is text', () => {
    const prepared = httpDestination.prepare({ httpDestinationUrl: url, batchSize: '10', signingSecret: 's3' });
    const events = ['first', 'größe', 'third'].map((id) => ({ resolved: sampleEvent({ id }) }));
    const asText = prepared.buildRequest(events, 0);
    const asBytes = events.map((event) => ({
      ...event,
      writeJson: (writer: ByteWriter) => writer.text(eventJson(event)),
    }));
    const request = prepared.buildRequest(asBytes, 0);
    expect(request.bodyBytes?.toString()).toBe(asText.body);
    expect(request.body).toBeUndefined();
    expect(request.headers['x-signature-256']).toBe(asText.headers['x-signature-256']);
    const mapped = { eventName: 'purchase', properties: {} };
    const [first, ...others] = asBytes;
    const mixed = prepared.buildRequest([...others, { ...(first ?? one[0]), resolved: sampleEvent(), mapped }], 0);
    expect(mixed.bodyBytes).toBeUndefined();
    expect(JSON.parse(mixed.body ?? '')).toHaveLength(3);
  });

  it('body: a mapping renames the event and replaces its properties', () => {
    const mapped = { eventName: 'purchase', properties: { total: 1 } };
    const request = httpDestination
      .prepare({ httpDestinationUrl: url })
      .buildRequest([{ resolved: sampleEvent(), mapped }], 0);
    expect(JSON.parse(request.body ?? '')).toMatchObject({
      event: { event: 'purchase', event_properties: { total: 1 } },
    });
  });

  it('headers: the event id is the idempotency key, percent-encoded where it must be', () => {
    const prepared = httpDestination.prepare({ httpDestinationUrl: url });
    expect(prepared.buildRequest(one, 0).headers['idempotency-key']).toBe('sample-event-1');
    const odd = prepared.buildRequest([{ resolved: sampleEvent({ id: 'größe 1\r\n' }) }], 0);
    expect(odd.headers['idempotency-key']).toBe('gr%C3%B6%C3%9Fe%201%0D%0A');
    const broken = prepared.buildRequest([{ resolved: sampleEvent({ id: '\ud800' }) }], 0);
    expect(broken.headers['idempotency-key']).toMatch(/^id-[0-9a-f]{40}$/);
  });

  it('headers: the trace id of an event is kept in traceparent', () => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const prepared = httpDestination.prepare({ httpDestinationUrl: url });
    const { traceparent } = prepared.buildRequest([{ resolved: sampleEvent({ trace }) }], 0).headers;
    expect(traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
    expect(prepared.buildRequest(one, 0).headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it('headers: a signing secret signs the body', () => {
    const request = httpDestination.prepare({ httpDestinationUrl: url, signingSecret: 's3' }).buildRequest(one, 0);
    const expected = createHmac('sha256', 's3')
      .update(request.body ?? '')
      .digest('hex');
    expect(request.headers['x-signature-256']).toBe(`sha256=${expected}`);
  });

  it('headers: the user may set headers, but not those that the sender sets', () => {
    const headers = JSON.stringify({ Authorization: 'Bearer x', 'Idempotency-Key': 'mine' });
    const request = httpDestination.prepare({ httpDestinationUrl: url, headers }).buildRequest(one, 0);
    expect(request.headers).toMatchObject({ authorization: 'Bearer x', 'idempotency-key': 'sample-event-1' });
  });

  it.each([
    ['httpDestinationUrl', { httpDestinationUrl: 'ftp://example.com' }],
    ['httpDestinationUrl', { httpDestinationUrl: 'https://user:pass@example.com' }],
    ['httpDestinationUrl', { httpDestinationUrl: '/events' }],
    ['httpDestinationUrl', { httpDestinationUrl: 7 }],
    ['method', { httpDestinationUrl: url, method: 'DELETE' }],
    ['batchSize', { httpDestinationUrl: url, batchSize: '0' }],
    ['batchSize', { httpDestinationUrl: url, batchSize: '1.5' }],
    ['headers', { httpDestinationUrl: url, headers: 'no json' }],
    ['headers', { httpDestinationUrl: url, headers: '["a"]' }],
    ['headers', { httpDestinationUrl: url, headers: '{"a": 1}' }],
    ['headers', { httpDestinationUrl: url, headers: '{"a": "x\\r\\ny: z"}' }],
    ['headers', { httpDestinationUrl: url, headers: '{"Host": "x"}' }],
    ['headers', { httpDestinationUrl: url, headers: '{"proxy-authorization": "x"}' }],
    ['headers', { httpDestinationUrl: url, headers: '{"Transfer-Encoding": "chunked"}' }],
    ['headers', { httpDestinationUrl: url, headers: '{"a b": "x"}' }],
  ])('prepare: refuses a bad %s in %o', (key, settings) => {
    expect(() => httpDestination.prepare(settings)).toThrow(`settings.${key} `);
  });

  it.each([
    [404, 'retry'],
    [409, 'retry'],
    [410, undefined],
    [400, undefined],
    [200, undefined],
  ])('answer: %i is read as %s', (status, kind) => {
    const { readAnswer } = httpDestination.prepare({ httpDestinationUrl: url });
    const read = readAnswer?.({ status, headers: {}, body: '' }, [...one, ...one]);
    expect(read?.map((outcome) => outcome.kind)).toEqual(kind === undefined ? undefined : [kind, kind]);
  });
});
