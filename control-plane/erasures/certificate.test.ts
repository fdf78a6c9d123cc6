import { expect, test } from 'vitest';
import { certificateOf } from './certificate.ts';

const dayMs = 86_400_000;

test('certificate: events that wait for a paused destination have no end date', () => {
  const counts = { visitors: 1, identifiers: 1, recentEvents: 0, experimentAssignments: 0, experimentVisitors: 0 };
  const record = {
    id: 'e',
    requestedAtMs: 0,
    erasedAtMs: 0,
    actor: { id: 'k', name: 'key' },
    reference: undefined,
    isSuppressed: false,
    counts,
    dueAtMs: undefined,
    hasSubject: false,
  };
  const limits = { historyMs: 7 * dayMs, waitingMs: 3 * dayMs, deadLetterMs: 30 * dayMs };
  const untilOf = (name: string, afterMs: number): string | null | undefined =>
    certificateOf('a', record, [], { limits, now: new Date(afterMs) }).retained.find((one) => one.name === name)?.until;
  expect([untilOf('EVENTS', dayMs), untilOf('RETRY', dayMs)]).toEqual([new Date(7 * dayMs).toISOString(), null]);
  expect([untilOf('EVENTS', 8 * dayMs), untilOf('RETRY', 8 * dayMs)]).toEqual([undefined, null]);
});
