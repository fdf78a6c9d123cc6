import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import { expect, test, vi } from 'vitest';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { DispatchItem } from '../sources/dispatch-item.ts';
import { wholeEvent } from '../events/read-event.ts';
import { Sending } from './sending.ts';
import type { NextOptions } from './sending.ts';

const destination = (own: Partial<OfferedDestination> = {}): OfferedDestination => ({
  order: 'visitor',
  batchEventsMax: 3,
  buildRequest: () => ({ method: 'POST', url: 'http://127.0.0.1/', headers: {}, body: '' }),
  ...own,
});

function itemOf(id: string): DispatchItem {
  const source = { kind: 'log', message: { seq: 1, storedAtMs: 0 } as LogMessage } as const;
  const frame = { source, bytes: 0, left: 1, settled: undefined, sinceMs: 0, isStarted: false, slot: 0 };
  const sample = sampleEvent({ id });
  const event = wholeEvent({ ...sample, visitor: { ...sample.visitor, id } }, 100);
  return new DispatchItem(frame, event);
}

const next: NextOptions = { isPatient: true, turnOf: () => 'take', isLive: () => true };

/** A `Sending` whose requests are never answered. */
function open(concurrency: number): Sending {
  return new Sending({
    sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() },
    concurrency,
    lingerMs: 0,
    accessRetry: { minMs: 1_000, maxMs: 1_000 },
    requestBytesMax: 1_000_000,
    keepsOrder: true,
  });
}

/** Adds events as long as `wantsFresh` asks for them. Returns how many were added. */
function fill(sending: Sending, prepared: OfferedDestination): number {
  let added = 0;
  for (; added < 1_000 && sending.wantsFresh(prepared); added += 1) sending.add(itemOf(`${sending.size}`));
  return added;
}

test('sending: asks for the events of one request at a time, until all requests are in flight', () => {
  const sending = open(2);
  const prepared = destination();
  expect(fill(sending, prepared)).toBe(3);
  expect(sending.next(prepared, next)?.items).toHaveLength(3);
  expect(fill(sending, prepared)).toBe(3);
  expect(sending.next(prepared, next)?.items).toHaveLength(3);
  expect(fill(sending, prepared)).toBe(0);
});

test('sending: for a destination with groups it asks for the events of all requests at once', () => {
  const sending = open(2);
  expect(fill(sending, destination({ groupOf: () => 'one' }))).toBe(6);
});

test('sending: a probe sends one event, with no other request at the same time', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const sending = open(64);
    const prepared = destination();
    const down = { attempts: [], requests: 1, isUp: false, isOverloaded: false, isAccessRefused: false };
    for (let hasOpened = false; !hasOpened;) {
      fill(sending, prepared);
      const batch = sending.next(prepared, next);
      if (batch === undefined) return expect.unreachable('nothing may be sent, and the breaker is closed');
      expect(batch).toMatchObject({ isProbe: false, items: { length: 3 } });
      vi.advanceTimersByTime(10_000);
      hasOpened = sending.ended(batch, down);
      sending.release(batch);
    }
    expect(sending.next(prepared, next)).toBeUndefined();
    vi.advanceTimersByTime(1_000);
    fill(sending, prepared);
    expect(sending.next(prepared, next)).toMatchObject({ isProbe: true, items: { length: 1 } });
    expect(sending.next(prepared, next)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('sending: with a rate limit the next request is sent when the limit allows it, and that time is known', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const sending = open(64);
    const prepared = destination({ batchEventsMax: 1, requestEveryMs: 1_000 });
    for (const id of ['1', '2', '3']) sending.add(itemOf(id));
    const startedMs = performance.now();
    expect(sending.nextAtMs).toBe(Infinity);
    expect(sending.next(prepared, next)?.items).toHaveLength(1);
    for (const waitedMs of [0, 999]) {
      vi.advanceTimersByTime(waitedMs);
      expect(sending.next(prepared, next)).toBeUndefined();
      expect(sending.nextAtMs).toBe(startedMs + 1_000);
    }
    vi.advanceTimersByTime(1);
    expect(sending.nextAtMs).toBe(Infinity);
    expect(sending.next(prepared, next)?.items).toHaveLength(1);
    expect(sending.next(prepared, next)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
