import { expect, test, vi } from 'vitest';
import { RequestGate } from './request-gate.ts';

type Said = {
  readonly requests?: number;
  readonly isUp: boolean;
  readonly isOverloaded?: boolean;
  readonly isAccessRefused?: boolean;
};

const accessRetry = { minMs: 60_000, maxMs: 600_000 };

function ask(gate: RequestGate, said: Said): void {
  gate.ended('fresh', gate.started('fresh'), { requests: 1, isOverloaded: false, isAccessRefused: false, ...said });
}

test('request gate: a destination that accepts some rows and throttles the rest gets fewer requests; the breaker stays closed', () => {
  const gate = new RequestGate(8, accessRetry);
  for (let times = 0; times < 60; times += 1) ask(gate, { isUp: true, isOverloaded: true });
  expect(gate.concurrency).toBe(1);
  expect(gate.isBreakerClosed).toBe(true);
  for (let times = 0; times < 60; times += 1) ask(gate, { isUp: true, isOverloaded: false });
  expect(gate.concurrency).toBe(8);
});

test('request gate: a destination that refuses its key three times in a row is paused for a minute, and longer the next time', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const gate = new RequestGate(8, accessRetry);
    const refused = { isUp: false, isAccessRefused: true };
    ask(gate, refused);
    ask(gate, { isUp: true });
    ask(gate, refused);
    ask(gate, refused);
    expect([gate.isAccessRefused, gate.isShut]).toEqual([false, false]);
    ask(gate, refused);
    expect([gate.isAccessRefused, gate.isShut, gate.room]).toEqual([true, true, 0]);
    vi.advanceTimersByTime(29_999);
    expect(gate.isShut).toBe(true);
    vi.advanceTimersByTime(30_001);
    expect([gate.isShut, gate.isAccessRefused, gate.room]).toEqual([false, true, 1]);
    ask(gate, refused);
    vi.advanceTimersByTime(59_999);
    expect(gate.isShut).toBe(true);
    vi.advanceTimersByTime(60_001);
    ask(gate, { isUp: true });
    expect([gate.isShut, gate.isAccessRefused, gate.isBreakerClosed]).toEqual([false, false, true]);
  } finally {
    vi.useRealTimers();
  }
});

test('request gate: after a possible key change a paused destination is probed at once, but a destination that is down is not', () => {
  const held = new RequestGate(8, accessRetry);
  for (let times = 0; times < 3; times += 1) ask(held, { isUp: false, isAccessRefused: true });
  held.askAgain();
  expect([held.isShut, held.room]).toEqual([false, 1]);
  const down = new RequestGate(8, accessRetry);
  for (let times = 0; times < 50; times += 1) ask(down, { isUp: false });
  down.askAgain();
  expect([down.isShut, down.isAccessRefused]).toEqual([true, false]);
});

test('request gate: a probe that made no request decides nothing, and the next probe is allowed', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const gate = new RequestGate(8, accessRetry);
    for (let times = 0; times < 3; times += 1) ask(gate, { isUp: false, isAccessRefused: true });
    vi.advanceTimersByTime(60_001);
    expect(gate.room).toBe(1);
    ask(gate, { requests: 0, isUp: true });
    expect([gate.isBreakerClosed, gate.room]).toEqual([false, 1]);
    ask(gate, { isUp: true });
    expect(gate.isBreakerClosed).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
