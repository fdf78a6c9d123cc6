import { expect, test } from 'vitest';
import { createEventIds } from './event-ids.ts';

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const atMs = Date.UTC(2026, 10, 21);
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

test('event ids: each id is a UUIDv7 of the given time, unique, and greater than all earlier ids', () => {
  const newId = createEventIds();
  const ids = Array.from({ length: 5_000 }, (_, index) => newId(atMs + Math.floor(index / 1_000)));
  for (const id of ids) expect(id).toMatch(version7);
  expect(ids.map(timeOf)).toEqual(ids.map((_, index) => atMs + Math.floor(index / 1_000)));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test('event ids: two generators never make the same id, even at the same time', () => {
  const one = createEventIds();
  const other = createEventIds();
  const ids = Array.from({ length: 1_000 }, () => [one(atMs), other(atMs)]).flat();
  expect(new Set(ids).size).toBe(ids.length);
});

test('event ids: after a clock was set back far, ids follow the clock', () => {
  const newId = createEventIds();
  newId(atMs);
  expect(timeOf(newId(atMs - 3_600_000))).toBe(atMs - 3_600_000);
});
