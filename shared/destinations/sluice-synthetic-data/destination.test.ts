import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { sluiceSyntheticData } from './destination.ts';
import { syntheticValue } from './payload.ts';

const prepared = sluiceSyntheticData.prepare({ url: 'https://example.com/events' });
const request = (overrides: Parameters<typeof sampleEvent>[0] = {}) =>
  prepared.buildRequest([{ resolved: sampleEvent(overrides) }], 0);
const bodyOf = (overrides: Parameters<typeof sampleEvent>[0] = {}) =>
  JSON.parse(request(overrides).body ?? '') as ReturnType<typeof sampleEvent>;

describe('SluiceSyntheticData', () => {
  it('body: has the shape of the event, with other values', () => {
    const { event, visitor } = bodyOf();
    expect(event).toMatchObject({ event: 'Order Completed', source_id: 'sample-source', time: 1_699_999_980_000 });
    expect(event.id).toMatch(/^synthetic-[0-9a-f]{24}$/);
    expect(event.event_properties).toEqual({
      order_id: expect.stringMatching(/^[A-Z]-\d{4}$/),
      value: expect.any(Number),
      currency: expect.stringMatching(/^[A-Z]{3}$/),
    });
    expect(event.context['current_url']).toMatch(/^https:\/\/www\.example\.com\/page-\d+$/);
    expect(event.context['ip']).toMatch(/^192\.0\.2\.\d+$/);
    expect(visitor.email).toMatch(/^user-\d+@example\.com$/);
    expect(visitor.custom_properties).toEqual({ plan: expect.stringMatching(/^[a-z]{3}$/) });
  });

  it('request: contains nothing about the person', () => {
    const { body, headers } = request({ id: 'order-of-ada@example.com', event: 'ada@example.com bought' });
    const sent = JSON.stringify({ body, headers });
    for (const personal of ['ada', 'Ada', 'A-1001', '42.5', 'customer-7', 'sample-visitor', '203.0.113.7', 'shop.']) {
      expect(sent).not.toContain(personal);
    }
  });

  it('request: the same event gives the same request, another event gets another visitor', () => {
    expect(request()).toEqual(request());
    expect(bodyOf({ id: 'other' }).visitor).not.toEqual(bodyOf().visitor);
  });

  it('batch: is sent as an array, with an idempotency key of its own', () => {
    const batches = sluiceSyntheticData.prepare({ url: 'https://example.com/events', batchSize: 5 });
    const two = [{ resolved: sampleEvent() }, { resolved: sampleEvent({ id: 'second' }) }];
    const sent = batches.buildRequest(two, 0);
    expect(JSON.parse(sent.body ?? '')).toHaveLength(2);
    expect(sent.headers).toMatchObject({
      'x-sluice-synthetic': 'true',
      'idempotency-key': expect.stringMatching(/^batch-/),
    });
  });
});

describe('synthetic value', () => {
  it.each([
    ['2026-01-31', /^\d{4}-\d\d-\d\d$/],
    ['2026-01-31T10:00:00+02:00', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
    ['2001:db8:85a3::7334', /^2001:db8::[0-9a-f]+$/],
    ['Größe 漢', /^[A-Z][a-z]{4} [a-z]$/],
    ['', /^$/],
  ])('%s keeps its form', (text, form) => {
    expect(syntheticValue(text, 'seed')).toMatch(form);
    if (text.includes('-01-')) expect(Number.isNaN(Date.parse(String(syntheticValue(text, 'seed'))))).toBe(false);
  });

  it('names: property names that could contain personal data are replaced', () => {
    const made = syntheticValue({ plan: 1, 'ada@example.com': 2, '+491701234567': 3, order_4917012: 4 }, 's');
    expect(Object.keys(made as object)).toEqual(['plan', 'property_1', 'property_2', 'property_3']);
  });

  it('property: any JSON keeps its shape, and the same seed gives the same values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, seed) => {
        const made = syntheticValue(value, seed);
        expect(shapeOf(made)).toEqual(shapeOf(value));
        expect(syntheticValue(value, seed)).toEqual(made);
      }),
    );
  });
});

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shapeOf);
  return value === null ? 'null' : typeof value;
}
