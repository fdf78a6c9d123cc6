import { expect, test } from 'vitest';
import { eventsLink, readRange } from './delivery-range.ts';

const nowMs = new Date(2026, 10, 27, 16, 30, 20).getTime();
const read = (query: string) => readRange(new URLSearchParams(query), nowMs);

test('delivery range: an offered range ends with the minute, and a custom range is in the viewer’s time zone', () => {
  const endMs = new Date(2026, 10, 27, 16, 31).getTime();
  expect(read('')).toEqual({ fromMs: endMs - 86_400_000, toMs: endMs });
  expect(read('range=10m')).toEqual({ fromMs: endMs - 600_000, toMs: endMs });
  expect(read('range=custom&from=2026-11-26T20:00&to=2026-11-27T06:00')).toEqual({
    fromMs: new Date(2026, 10, 26, 20).getTime(),
    toMs: new Date(2026, 10, 27, 6).getTime(),
  });
  expect(read('range=custom&from=2026-11-27T06:00')).toEqual({
    fromMs: new Date(2026, 10, 27, 6).getTime(),
    toMs: endMs,
  });
  expect(read('range=custom&from=2026-11-27T06:00&to=2026-11-27T05:00')).toBeUndefined();
  expect(read('range=custom&from=nonsense')).toBeUndefined();
  expect(read('range=custom&to=-271821-04-20T00:00:00.000Z')).toBeUndefined();
});

test('delivery range: a link to the events page names the same range also where a clock is set back', () => {
  const range = { from: '2026-10-25T00:00:00.000Z', to: '2026-10-25T01:00:00.000Z' };
  const [fromMs, toMs] = [Date.parse(range.from), Date.parse(range.to)];
  const [, query] = eventsLink({ destinationId: 'd', outcome: 'rejected', name: 'A & B', fromMs, toMs }).split('?');
  const search = new URLSearchParams(query);
  expect(Object.fromEntries(search)).toMatchObject({
    destinationId: 'd',
    outcome: 'rejected',
    name: 'A & B',
    ...range,
  });
  expect(readRange(search, nowMs)).toEqual({ fromMs, toMs });
});
