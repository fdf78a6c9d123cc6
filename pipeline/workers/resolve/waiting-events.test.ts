import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WaitingEvents } from './waiting-events.ts';
import type { WaitingEvent, WaitingLines } from './waiting-events.ts';

const textOf = (line: number): string => String(line).padStart(5, '0');
const lineBytes = 6;
const data = Buffer.from(Array.from({ length: 6_000 }, (_, line) => `${textOf(line)}\n`).join(''));
const frame = { seq: 1, data, storedAtMs: 0 };

/** The given number of lines of the frame, which all have the same length. */
const linesOf = (accountId: string, line: number, lines: number): WaitingLines => ({
  frame,
  accountId,
  line,
  bytes: data,
  start: line * lineBytes,
  end: (line + lines) * lineBytes - 1,
});
const event = (accountId: string, line: number): WaitingLines => linesOf(accountId, line, 1);

const account = fc.constantFrom('a', 'b', 'c', 'd');

test('waiting events: each event is taken once, in order within its account, and no part exceeds its limits', () => {
  fc.assert(
    fc.property(fc.array(account, { maxLength: 60 }), fc.nat(12), fc.nat(6), (accounts, events, ofAccount) => {
      const limits = { eventsMax: events + 1, accountEventsMax: ofAccount + 1 };
      const waiting = new WaitingEvents(limits);
      addTogether(waiting, accounts);
      const taken: WaitingEvent[] = [];
      while (!waiting.isEmpty) {
        const part = waiting.next().events;
        expect(part.length).toBeGreaterThan(0);
        expect(part.length).toBeLessThanOrEqual(limits.eventsMax);
        for (const id of new Set(accounts)) {
          const some = part.filter(({ accountId }) => accountId === id);
          expect(some.length).toBeLessThanOrEqual(limits.accountEventsMax);
        }
        taken.push(...part);
      }
      expect(waiting.bytes).toBe(0);
      for (const id of new Set(accounts)) {
        const lines = taken.filter(({ accountId }) => accountId === id).map(({ origin }) => origin.line);
        expect(lines).toEqual(accounts.flatMap((one, line) => (one === id ? [line] : [])));
      }
      expect(taken).toHaveLength(accounts.length);
      expect(
        taken.every(({ origin, bytes, start, end }) => bytes.toString('utf8', start, end) === textOf(origin.line)),
      ).toBe(true);
    }),
  );
});

/** Adds neighbouring lines of the same account with one call. */
function addTogether(waiting: WaitingEvents, accounts: readonly string[]): void {
  for (let line = 0; line < accounts.length;) {
    const id = accounts[line] ?? '';
    let lines = 1;
    while (accounts[line + lines] === id) lines += 1;
    waiting.add(linesOf(id, line, lines));
    line += lines;
  }
}

test('waiting events: an account that sends little is in the next part, after any number of events of another one', () => {
  const waiting = new WaitingEvents({ eventsMax: 100, accountEventsMax: 20 });
  for (let line = 0; line < 5_000; line += 1) waiting.add(event('flood', line));
  waiting.next();
  waiting.add(event('quiet', 5_000));
  expect(waiting.next().events.some(({ accountId }) => accountId === 'quiet')).toBe(true);
});

test('waiting events: if many accounts wait, each has a turn before any account has a second turn', () => {
  const waiting = new WaitingEvents({ eventsMax: 4, accountEventsMax: 2 });
  for (let line = 0; line < 40; line += 1) waiting.add(event(`account-${line % 10}`, line));
  const first = new Set<string>();
  for (let part = 0; part < 5; part += 1) {
    for (const { accountId } of waiting.next().events) first.add(accountId);
  }
  expect(first.size).toBe(10);
});

test('waiting events: an account skipped in some parts keeps its events in order, and the other accounts continue', () => {
  fc.assert(
    fc.property(
      fc.array(account, { maxLength: 60 }),
      fc.array(fc.uniqueArray(account), { maxLength: 20 }),
      (accounts, leftOut) => {
        const waiting = new WaitingEvents({ eventsMax: 5, accountEventsMax: 2 });
        accounts.forEach((id, line) => waiting.add(event(id, line)));
        const taken: WaitingEvent[] = [];
        const parts = [...leftOut.map((ids) => new Set(ids)), ...accounts.map(() => new Set<string>())];
        for (const without of parts) {
          const hasOther = waiting.hasOther(without);
          const part = waiting.next(without).events;
          expect(part.length > 0).toBe(hasOther);
          expect(part.filter(({ accountId }) => without.has(accountId))).toEqual([]);
          taken.push(...part);
        }
        expect(waiting).toMatchObject({ isEmpty: true, bytes: 0 });
        for (const id of new Set(accounts)) {
          const lines = taken.filter(({ accountId }) => accountId === id).map(({ origin }) => origin.line);
          expect(lines).toEqual(accounts.flatMap((one, line) => (one === id ? [line] : [])));
        }
      },
    ),
  );
});

test('waiting events: dead letters of frames go with the next part, even if it has no event', () => {
  const waiting = new WaitingEvents({ eventsMax: 4, accountEventsMax: 2 });
  const letters = [{ payload: new Uint8Array(), reason: 'none', seq: 1, line: undefined }];
  waiting.addLetters({ frame, letters });
  expect(waiting.isEmpty).toBe(false);
  expect(waiting.next()).toEqual({ events: [], left: [{ frame, letters }] });
  expect(waiting.isEmpty).toBe(true);
});
