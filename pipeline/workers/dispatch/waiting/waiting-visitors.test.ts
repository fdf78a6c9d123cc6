import fc from 'fast-check';
import { expect, test } from 'vitest';
import { notAttempted } from '../events/attempted.ts';
import { WaitingVisitors } from './waiting-visitors.ts';
import type { Follower } from './waiting-visitors.ts';

const parkedAs = { attempted: notAttempted, origin: undefined, receivedAtMs: 0, isCopied: true };
const ids = (followers: readonly Follower[]): string => followers.map(({ key }) => key).join(' ');

test('waiting visitors: follower: may go only once the head is settled', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'a');
  waiting.park('v', 'b', parkedAs, { seq: 1, index: 0 });
  expect(waiting.canRelease('v')).toBe(false);
  waiting.settle('v', 'a');
  expect(ids(waiting.release('v', 9))).toBe('b');
  expect(waiting.isWaiting('v')).toBe(true);
});

test('waiting visitors: follower: may not go before the log has stored it', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'a');
  const b = waiting.park('v', 'b', parkedAs);
  waiting.settle('v', 'a');
  expect(waiting.release('v', 9)).toEqual([]);
  b.place = { seq: 1, index: 0 };
  expect(ids(waiting.release('v', 9))).toBe('b');
});

test('waiting visitors: event that the log does not store: later events of the visitor may be sent; once none is left, the visitor no longer waits', () => {
  const waiting = new WaitingVisitors();
  const a = waiting.park('v', 'a', parkedAs);
  const b = waiting.park('v', 'b', parkedAs, { seq: 1, index: 0 });
  expect(waiting.canRelease('v')).toBe(false);
  waiting.unpark(a);
  expect([waiting.canRelease('v'), waiting.knows('v', 'a'), waiting.parked]).toEqual([true, false, 1]);
  waiting.unpark(b);
  expect([waiting.isWaiting('v'), waiting.parked]).toEqual([false, 0]);
});

test('waiting visitors: follower that fails: becomes the head, and the followers released behind it wait again, in order', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'a');
  for (const [index, id] of ['b', 'c', 'd', 'e'].entries()) waiting.park('v', id, parkedAs, { seq: 1, index });
  waiting.settle('v', 'a');
  const [b, c, d] = waiting.release('v', 3) as [Follower, Follower, Follower];
  waiting.addHead('v', 'b', b);
  for (const follower of [d, c]) waiting.giveBack(follower);
  expect(waiting.release('v', 9)).toEqual([]);
  waiting.settle('v', 'b');
  expect(ids(waiting.release('v', 9))).toBe('c d e');
});

test('waiting visitors: follower that fails and is settled without being stored: leaves no head, and the next follower may go', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'a');
  for (const [index, id] of ['b', 'c'].entries()) waiting.park('v', id, parkedAs, { seq: 1, index });
  waiting.settle('v', 'a');
  const [b] = waiting.release('v', 1) as [Follower];
  waiting.addHead('v', 'b', b);
  waiting.settle('v', 'b', b);
  expect([...waiting.heads()]).toEqual([]);
  expect(ids(waiting.release('v', 9))).toBe('c');
});

test('waiting visitors: knows: finds every waiting event, however many there are, under its own visitor only', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'head');
  for (let n = 0; n < 100; n += 1) waiting.park('v', `e${n}`, parkedAs, { seq: n, index: 0 });
  expect(['head', 'e0', 'e99'].map((id) => waiting.knows('v', id))).toEqual([true, true, true]);
  expect(waiting.knows('w', 'e0')).toBe(false);
  waiting.settle('v', 'head');
  const [first] = waiting.release('v', 1) as [Follower];
  expect(waiting.knows('v', 'e0')).toBe(true);
  waiting.settle('v', 'e0', first);
  expect(waiting.knows('v', 'e0')).toBe(false);
  expect(waiting.knows('v', 'e1')).toBe(true);
});

test('waiting visitors: counts: visitors and parked events are counted, and both are zero when all is settled', () => {
  const waiting = new WaitingVisitors();
  waiting.addHead('v', 'a');
  waiting.addHead('w', 'x');
  waiting.park('v', 'b', parkedAs, { seq: 1, index: 0 });
  expect([waiting.size, waiting.parked]).toEqual([2, 1]);
  waiting.settle('w', 'x');
  waiting.settle('v', 'a');
  const [b] = waiting.release('v', 9) as [Follower];
  expect([waiting.size, waiting.parked]).toEqual([1, 1]);
  waiting.settle('v', 'b', b);
  expect([waiting.size, waiting.parked]).toEqual([0, 0]);
});

test('waiting visitors: property: however attempts end, each visitor’s events are sent in order, once each until a restart', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('fresh' as const), visitor: fc.nat(2) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('attempt' as const),
        visitor: fc.nat(2),
        count: fc.integer({ min: 1, max: 4 }),
        ends: fc.array(fc.constantFrom<End>('delivered', 'dead', 'retry', 'no room'), {
          minLength: 4,
          maxLength: 4,
        }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('due' as const), visitor: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('store' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), visitor: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hand back' as const), visitor: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const model = new Destination();
      for (const step of steps) {
        if (step.kind === 'fresh') model.fresh(`v${step.visitor}`);
        else if (step.kind === 'attempt') model.attempt(`v${step.visitor}`, step.ends.slice(0, step.count));
        else if (step.kind === 'due') model.due(`v${step.visitor}`);
        else if (step.kind === 'store') model.store();
        else if (step.kind === 'release') model.release(`v${step.visitor}`);
        else if (step.kind === 'hand back') model.handBack(`v${step.visitor}`);
        else model.restart();
      }
      model.finish();
      expect(model.waiting.size).toBe(0);
      expect(model.waiting.parked).toBe(0);
      for (const [visitor, made] of model.made) {
        expect(model.ended.get(visitor) ?? []).toEqual(Array.from({ length: made }, (_, n) => n));
      }
    }),
    { numRuns: 500 },
  );
});

type Item = { readonly n: number; readonly follower: Follower | undefined };
/** `no room`: the event fails, and becomes a dead letter because the retry log does not store it. */
type End = 'delivered' | 'dead' | 'retry' | 'no room';

/** A minimal destination: a lane for each visitor, a retry tier, and the log of parked events. */
class Destination {
  waiting = new WaitingVisitors();
  readonly made = new Map<string, number>();
  /** For each visitor, the events that were delivered or became dead letters, in that order. */
  readonly ended = new Map<string, number[]>();
  readonly #lanes = new Map<string, Item[]>();
  /** Events that are not acknowledged, and are delivered again after a restart. */
  readonly #unacknowledged = new Map<string, Set<number>>();
  readonly #tier = new Map<string, number[]>();
  readonly #parked = new Map<string, number[]>();
  #storing: { readonly visitor: string; readonly n: number; readonly follower: Follower }[] = [];
  #seq = 0;

  fresh(visitor: string): void {
    const n = this.made.get(visitor) ?? 0;
    this.made.set(visitor, n + 1);
    of(this.#unacknowledged, visitor, () => new Set()).add(n);
    this.#arrive(visitor, n);
  }

  /** Sends the first events of the lane in one request; the first event that fails holds back those after it. */
  attempt(visitor: string, ends: readonly End[]): void {
    const lane = of(this.#lanes, visitor, () => []);
    const items = lane.splice(0, ends.length);
    let failed = false;
    let refused: Item | undefined;
    for (const [i, item] of items.entries()) {
      const end = failed ? 'retry' : ends[i];
      if (end === 'retry' || end === 'no room') {
        if (failed) this.#behind(visitor, item);
        else this.#wait(visitor, item);
        if (end === 'no room') refused = item;
        failed = true;
      } else this.#end(visitor, item);
    }
    if (failed) for (const item of lane.splice(0)) this.#behind(visitor, item);
    if (refused !== undefined) this.#end(visitor, refused);
  }

  due(visitor: string): void {
    for (const n of of(this.#tier, visitor, () => [])) {
      const lane = of(this.#lanes, visitor, () => []);
      if (!lane.some((item) => item.n === n)) lane.push({ n, follower: undefined });
    }
  }

  store(): void {
    const next = this.#storing.shift();
    if (next === undefined) return;
    this.#seq += 1;
    next.follower.place = { seq: this.#seq, index: 0 };
    of(this.#parked, next.visitor, () => []).push(next.n);
    this.#unacknowledged.get(next.visitor)?.delete(next.n);
  }

  release(visitor: string): void {
    if (!this.waiting.canRelease(visitor)) return;
    for (const follower of this.waiting.release(visitor, 3)) {
      of(this.#lanes, visitor, () => []).push({ n: Number(follower.key), follower });
    }
  }

  /** Simulates that the breaker opens: released events wait again. */
  handBack(visitor: string): void {
    const lane = of(this.#lanes, visitor, () => []);
    const released = lane.filter(({ follower }) => follower !== undefined);
    if (released.length < lane.length) return;
    lane.length = 0;
    for (const { follower } of released.toReversed()) if (follower !== undefined) this.waiting.giveBack(follower);
  }

  /** Simulates a restart: only events in the log are left, and unacknowledged events are delivered again after them. */
  restart(): void {
    this.waiting = new WaitingVisitors();
    this.#lanes.clear();
    this.#storing = [];
    for (const [visitor, heads] of this.#tier) for (const n of heads) this.waiting.addHead(visitor, String(n));
    for (const [visitor, parked] of this.#parked) {
      for (const n of parked) {
        if (!this.waiting.knows(visitor, String(n)))
          this.waiting.park(visitor, String(n), parkedAs, { seq: 1, index: 0 });
      }
    }
    for (const [visitor, events] of this.#unacknowledged) {
      for (const n of [...events].toSorted((a, b) => a - b)) this.#arrive(visitor, n);
    }
  }

  finish(): void {
    for (let round = 0; round < 1_000 && this.#isBusy(); round += 1) {
      while (this.#storing.length > 0) this.store();
      for (const visitor of this.made.keys()) {
        this.release(visitor);
        this.due(visitor);
        this.attempt(
          visitor,
          Array.from({ length: 4 }, () => 'delivered' as const),
        );
      }
    }
  }

  #end(visitor: string, item: Item): void {
    of(this.ended, visitor, () => []).push(item.n);
    this.#unacknowledged.get(visitor)?.delete(item.n);
    this.#leave(visitor, item);
    this.waiting.settle(visitor, String(item.n), item.follower);
  }

  #isBusy(): boolean {
    return this.waiting.size > 0 || [...this.#lanes.values()].some((lane) => lane.length > 0);
  }

  #arrive(visitor: string, n: number): void {
    if (!this.waiting.isWaiting(visitor)) of(this.#lanes, visitor, () => []).push({ n, follower: undefined });
    else if (this.waiting.knows(visitor, String(n))) this.#unacknowledged.get(visitor)?.delete(n);
    else this.#behind(visitor, { n, follower: undefined });
  }

  #wait(visitor: string, item: Item): void {
    const tier = of(this.#tier, visitor, () => []);
    this.#leave(visitor, item);
    tier.push(item.n);
    this.#unacknowledged.get(visitor)?.delete(item.n);
    this.waiting.addHead(visitor, String(item.n), item.follower);
  }

  #behind(visitor: string, { n, follower }: Item): void {
    if (follower !== undefined) this.waiting.giveBack(follower);
    else this.#storing.push({ visitor, n, follower: this.waiting.park(visitor, String(n), parkedAs) });
  }

  /** Removes an event from the retry log. */
  #leave(visitor: string, { n }: Item): void {
    for (const log of [this.#tier, this.#parked]) {
      const left = of(log, visitor, () => []);
      const at = left.indexOf(n);
      if (at !== -1) left.splice(at, 1);
    }
  }
}

function of<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
