import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VisitorLanes } from './visitor-lanes.ts';
import type { Turn } from './visitor-lanes.ts';
import type { LaneClass } from '../sources/dispatch-item.ts';

type Item = { visitorId: string; lane: LaneClass; n: number; bytes: number; group?: string };
const item = (visitorId: string, n: number, lane: LaneClass = 'fresh'): Item => ({ visitorId, n, lane, bytes: 1 });
const upTo = (itemsMax: number, bytesMax = Infinity) => ({ itemsMax, bytesMax, isOneEach: false });

test('visitor lanes: order: the next event of a visitor may go only after the event before it is released', () => {
  const lanes = new VisitorLanes<Item>();
  lanes.add(item('a', 1));
  lanes.add(item('a', 2));
  lanes.add(item('b', 3));
  const first = lanes.take('fresh', upTo(1));
  expect(first.map(({ n }) => n)).toEqual([1]);
  expect(lanes.take('fresh', upTo(1)).map(({ n }) => n)).toEqual([3]);
  expect(lanes.take('fresh', upTo(1))).toEqual([]);
  lanes.release(first);
  expect(lanes.take('fresh', upTo(1)).map(({ n }) => n)).toEqual([2]);
});

test('visitor lanes: batch: later events of the same visitors go in the same batch, in order', () => {
  const lanes = new VisitorLanes<Item>();
  for (const n of [1, 2, 3]) lanes.add(item('a', n));
  lanes.add(item('b', 4));
  expect(lanes.take('fresh', upTo(3)).map(({ n }) => n)).toEqual([1, 2, 3]);
  expect(lanes.take('fresh', upTo(3)).map(({ n }) => n)).toEqual([4]);
});

test('visitor lanes: groups: a batch has the events of one group, even of later visitors, and skips other groups', () => {
  const lanes = new VisitorLanes<Item>();
  for (const [n, letters] of ['aab', 'b', 'a', 'cb', 'a'].entries()) {
    for (const group of letters) lanes.add({ ...item(`v${n}`, n), group });
  }
  const groups = (items: readonly Item[]) => items.map(({ group, n }) => `${group}${n}`).join(' ');
  expect(groups(lanes.take('fresh', upTo(3)))).toBe('a0 a0 a2');
  expect(groups(lanes.take('fresh', upTo(3)))).toBe('b1');
  expect(groups(lanes.take('fresh', upTo(3)))).toBe('c3');
  expect(groups(lanes.take('fresh', upTo(3)))).toBe('a4');
  expect(groups(lanes.take('fresh', upTo(3)))).toBe('');
});

test('visitor lanes: remove: removed items are returned, and the rest of a visitor is taken in order', () => {
  const lanes = new VisitorLanes<Item>();
  for (const n of [1, 2, 3, 4]) lanes.add(item('a', n));
  lanes.add(item('b', 5));
  const flying = lanes.take('fresh', upTo(1));
  expect(lanes.remove(({ n }) => n === 2 || n === 5).map(({ n }) => n)).toEqual([5, 2]);
  lanes.release(flying);
  expect(lanes.take('fresh', upTo(9)).map(({ n }) => n)).toEqual([3, 4]);
  expect(lanes.size).toBe(2);
});

test('visitor lanes: turns: once an item leaves, the visitor’s next item may go; while an item stays, later items wait', () => {
  const lanes = new VisitorLanes<Item>();
  for (const n of [1, 2, 3]) lanes.add({ ...item('a', n), bytes: 10 });
  lanes.add(item('b', 4));
  lanes.add(item('c', 5));
  const turnOf = ({ n }: Item): Turn => (n === 5 ? 'stay' : n === 1 || n === 4 ? 'leave' : 'take');
  expect(lanes.take('fresh', upTo(9), turnOf)).toEqual([]);
  expect({ size: lanes.size, bytes: lanes.bytes, ready: lanes.readyCount('fresh') }).toEqual({
    size: 3,
    bytes: 21,
    ready: 2,
  });
  expect(lanes.take('fresh', upTo(9)).map(({ n }) => n)).toEqual([5, 2, 3]);
});

test('visitor lanes: turns: an item that gets a new group and size is batched by the new ones', () => {
  const lanes = new VisitorLanes<Item>();
  for (const n of [1, 2, 3]) lanes.add({ ...item(`v${n}`, n), bytes: 10, group: 'old' });
  const turnOf = (decided: Item): Turn => {
    Object.assign(decided, { bytes: 50, group: decided.n === 2 ? 'other' : 'new' });
    return 'take';
  };
  expect(lanes.take('fresh', upTo(9, 120), turnOf).map(({ n }) => n)).toEqual([1, 3]);
  expect(lanes.bytes).toBe(150);
});

test('visitor lanes: property: every event is taken once, in its visitor’s order, and only one batch has a visitor at a time', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('add' as const),
      visitor: fc.nat(5),
      retried: fc.boolean(),
      group: fc.constantFrom('a', 'b', 'c'),
    }),
    fc.record({
      kind: fc.constant('take' as const),
      max: fc.integer({ min: 1, max: 4 }),
      retried: fc.boolean(),
      leaving: fc.integer({ min: 2, max: 9 }),
      staying: fc.integer({ min: 2, max: 9 }),
    }),
    fc.record({ kind: fc.constant('release' as const), which: fc.nat(5) }),
    fc.record({ kind: fc.constant('remove' as const), modulus: fc.integer({ min: 2, max: 5 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.boolean(), (steps, isGrouped) => {
      const lanes = new VisitorLanes<Item>();
      const flying: Item[][] = [];
      const out: Item[] = [];
      let added = 0;
      const took = (items: Item[]): void => {
        if (items.length === 0) return;
        expect(new Set(items.map(({ group }) => group)).size).toBe(1);
        const others = new Set(flying.flat().map(({ visitorId }) => visitorId));
        expect(items.some(({ visitorId }) => others.has(visitorId))).toBe(false);
        flying.push(items);
        out.push(...items);
      };
      let removed = 0;
      for (const step of steps) {
        if (step.kind === 'add') {
          const next = item(`v${step.visitor}`, (added += 1), step.retried ? 'retried' : 'fresh');
          lanes.add(isGrouped ? { ...next, group: step.group } : next);
        } else if (step.kind === 'take') {
          const turnOf = ({ n }: Item): Turn => {
            if (n % step.staying === 0) return 'stay';
            if (n % step.leaving !== 0) return 'take';
            removed += 1;
            return 'leave';
          };
          took(lanes.take(step.retried ? 'retried' : 'fresh', upTo(step.max), turnOf));
        } else if (step.kind === 'release') lanes.release(flying.splice(step.which % (flying.length || 1), 1)[0] ?? []);
        else removed += lanes.remove(({ n }) => n % step.modulus === 0).length;
      }
      while (lanes.size > 0) {
        for (const items of flying.splice(0)) lanes.release(items);
        took(lanes.take('fresh', upTo(3)));
        took(lanes.take('retried', upTo(3)));
      }
      expect(out.length + removed).toBe(added);
      const newest = new Map<string, number>();
      for (const { visitorId, n } of out) {
        expect(n).toBeGreaterThan(newest.get(visitorId) ?? 0);
        newest.set(visitorId, n);
      }
    }),
  );
});

test('visitor lanes: bytes: an item that does not fit goes with the next request, and one that is too large goes alone', () => {
  const lanes = new VisitorLanes<Item>();
  const sizes = [40, 40, 40, 900, 10];
  for (const [n, bytes] of sizes.entries()) lanes.add({ ...item('a', n), bytes });
  lanes.add({ ...item('b', 9), bytes: 30 });
  const flights = sizes.map(() => {
    const items = lanes.take('fresh', upTo(10, 100));
    lanes.release(items);
    return items.map(({ n }) => n);
  });
  expect(flights).toEqual([[0, 1], [9, 2], [3], [4], []]);
});

test('visitor lanes: bytes: a batch ends at the first item that does not fit, so that its group keeps its order', () => {
  const lanes = new VisitorLanes<Item>();
  for (const [n, bytes] of [60, 60, 10].entries()) lanes.add({ ...item(`v${n}`, n), bytes, group: 'g' });
  lanes.add({ ...item('other', 3), group: 'h' });
  expect(lanes.take('fresh', upTo(10, 100)).map(({ n }) => n)).toEqual([0]);
  expect(lanes.take('fresh', upTo(10, 100)).map(({ n }) => n)).toEqual([1, 2]);
  expect(lanes.take('fresh', upTo(10, 100)).map(({ n }) => n)).toEqual([3]);
});

test('visitor lanes: bytes: the sum covers all items that are neither released nor removed', () => {
  const lanes = new VisitorLanes<Item>();
  for (const n of [1, 2, 3]) lanes.add({ ...item('a', n), bytes: n * 10 });
  lanes.add({ ...item('b', 4), bytes: 100 });
  const flying = lanes.take('fresh', upTo(1));
  expect(lanes.bytes).toBe(160);
  lanes.remove(({ n }) => n === 4);
  expect(lanes.bytes).toBe(60);
  lanes.removeBehind('a', ({ n }) => n === 3);
  expect(lanes.bytes).toBe(30);
  lanes.release(flying);
  expect(lanes.bytes).toBe(20);
});
