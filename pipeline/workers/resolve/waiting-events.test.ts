import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WaitingEvents } from './waiting-events.ts';
import type { Candidate } from './waiting-events.ts';

const frame = { seq: 1, data: new Uint8Array(), storedAtMs: 0 };

function candidate(accountId: string, line: number): Candidate {
  const claim = { userId: undefined, externalIds: [], emails: [], anonymousId: 'v' };
  const touch = { accountId, claim, given: [] };
  return { origin: { frame, line }, hash: { high: 0, low: line }, json: '', acceptedBytes: 10, sentBytes: 5, touch };
}

const account = fc.constantFrom('a', 'b', 'c', 'd');

test('waiting events: each is taken once, those of an account in their order, and parts keep to their bounds', () => {
  fc.assert(
    fc.property(fc.array(account, { maxLength: 60 }), fc.nat(12), fc.nat(6), (accounts, events, ofAccount) => {
      const limits = { eventsMax: events + 1, accountEventsMax: ofAccount + 1 };
      const waiting = new WaitingEvents(limits);
      accounts.forEach((id, line) => waiting.add(candidate(id, line)));
      const taken: Candidate[] = [];
      while (!waiting.isEmpty) {
        const { candidates } = waiting.next();
        expect(candidates.length).toBeGreaterThan(0);
        expect(candidates.length).toBeLessThanOrEqual(limits.eventsMax);
        for (const id of new Set(accounts)) {
          const some = candidates.filter(({ touch }) => touch.accountId === id);
          expect(some.length).toBeLessThanOrEqual(limits.accountEventsMax);
        }
        taken.push(...candidates);
      }
      expect(waiting.bytes).toBe(0);
      for (const id of new Set(accounts)) {
        const lines = taken.filter(({ touch }) => touch.accountId === id).map(({ origin }) => origin.line);
        expect(lines).toEqual(accounts.flatMap((one, line) => (one === id ? [line] : [])));
      }
      expect(taken).toHaveLength(accounts.length);
    }),
  );
});

test('waiting events: whoever sends little is in the next part, however much another one has sent before', () => {
  const waiting = new WaitingEvents({ eventsMax: 100, accountEventsMax: 20 });
  for (let line = 0; line < 5_000; line += 1) waiting.add(candidate('flood', line));
  waiting.next();
  waiting.add(candidate('quiet', 5_000));
  expect(waiting.next().candidates.some(({ touch }) => touch.accountId === 'quiet')).toBe(true);
});

test('waiting events: where many accounts wait, each has its turn before one has another', () => {
  const waiting = new WaitingEvents({ eventsMax: 4, accountEventsMax: 2 });
  for (let line = 0; line < 40; line += 1) waiting.add(candidate(`account-${line % 10}`, line));
  const first = new Set<string>();
  for (let part = 0; part < 5; part += 1) {
    for (const { touch } of waiting.next().candidates) first.add(touch.accountId);
  }
  expect(first.size).toBe(10);
});

test('waiting events: what is kept of frames goes with the next part, also where no event does', () => {
  const waiting = new WaitingEvents({ eventsMax: 4, accountEventsMax: 2 });
  const letters = [{ payload: new Uint8Array(), reason: 'none', seq: 1, line: undefined }];
  waiting.addLetters({ frame, letters });
  expect(waiting.isEmpty).toBe(false);
  expect(waiting.next()).toEqual({ candidates: [], left: [{ frame, letters }] });
  expect(waiting.isEmpty).toBe(true);
});
