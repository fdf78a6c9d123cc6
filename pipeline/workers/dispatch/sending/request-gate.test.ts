import { expect, test } from 'vitest';
import { RequestGate } from './request-gate.ts';

function ask(gate: RequestGate, said: { readonly isUp: boolean; readonly isOverloaded: boolean }): void {
  gate.ended('fresh', gate.started('fresh'), said);
}

test('request gate: a destination that takes a part and says it is too much is asked less, and not left alone', () => {
  const gate = new RequestGate(8);
  for (let times = 0; times < 60; times += 1) ask(gate, { isUp: true, isOverloaded: true });
  expect(gate.concurrency).toBe(1);
  expect(gate.isBreakerClosed).toBe(true);
  for (let times = 0; times < 60; times += 1) ask(gate, { isUp: true, isOverloaded: false });
  expect(gate.concurrency).toBe(8);
});
