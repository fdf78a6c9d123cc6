import { expect, test } from 'vitest';
import { fits, needsPast, queryOf, readFilters } from './event-filters.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const of = (query: string) => readFilters(new URLSearchParams(query));

test('event filters: a range ends now, a custom range is in the viewer’s time zone, and a value without a property is left out', () => {
  expect(queryOf(of('range=1h&outcome=rejected'), nowMs)).toBe('outcome=rejected&from=2026-03-01T11%3A00%3A00.000Z');
  const from = new Date('2026-03-01T10:00').toISOString();
  expect(new URLSearchParams(queryOf(of('range=custom&from=2026-03-01T10:00'), nowMs)).get('from')).toBe(from);
  expect(queryOf(of('from=2026-03-01T10:00&value=x'), nowMs)).toBe('');
});

test('event filters: a time of a link stays the same instant, and an invalid time is left out', () => {
  const query = (from: string, to: string) =>
    Object.fromEntries(new URLSearchParams(queryOf(of(`range=custom&from=${from}&to=${to}`), nowMs)));
  const range = { from: '2026-10-25T00:00:00.000Z', to: '2026-10-25T01:00:00.000Z' };
  expect(query(range.from, range.to)).toEqual(range);
  expect(query('20266-01-01T00:00', range.to)).toEqual({ to: range.to });
  expect(query('%2B275760-09-13T00:00:00.000Z', 'nonsense')).toEqual({});
});

test('event filters: new events are filtered in the console as the interface filters its lists', () => {
  const event = {
    event: 'Order Completed',
    sourceId: 's1',
    visitorId: 'v1',
    outcomes: [
      { destinationId: 'd1', outcome: 'delivered' },
      { destinationId: 'd2', outcome: 'rejected' },
    ],
  } as unknown as Parameters<typeof fits>[0];
  const passes = (query: string): boolean => fits(event, of(query));
  expect(['', 'name=order', 'destinationId=d2&outcome=rejected', 'sourceId=s1&visitorId=v1'].map(passes)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['name=cart', 'destinationId=d1&outcome=rejected', 'destinationId=d3', 'visitorId=v2'].map(passes)).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect([needsPast(of('name=x')), needsPast(of('range=1h')), needsPast(of('property=total'))]).toEqual([
    false,
    true,
    true,
  ]);
});
