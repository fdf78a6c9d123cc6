import { expect, test } from 'vitest';
import type { GcUse } from './gc-messages.ts';
import { gcFigures, watchGc } from './gc-watch.ts';
import type { Service } from './services.ts';

const serviceOf = (use: GcUse): Service =>
  ({ gc: { begin: () => undefined, end: () => Promise.resolve(use) } }) as Service;

test('heaps: the use of all services is added up, and shown per event and as a fraction of the time', async () => {
  const use = { collections: 3, pauseMs: 20, allocatedBytes: 50_000 };
  const watch = await watchGc([serviceOf(use), serviceOf(use)]).end(100);
  expect(watch).toMatchObject({ events: 100, use: { collections: 6, pauseMs: 40, allocatedBytes: 100_000 } });
  const figures = gcFigures([{ events: 100, seconds: 4, use: { ...use, allocatedBytes: 100_000 } }]);
  expect(figures).toMatchObject({ 'allocated an event': { value: 1_000 }, GC: { value: 0.005 } });
});

test('heaps: without a service to watch there is no figure', async () => {
  expect(gcFigures([await watchGc([]).end(100)])).toEqual({});
});
