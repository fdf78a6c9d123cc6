import { expect, test } from 'vitest';
import { explore } from './testing/protocol/explore.ts';
import type { Explored } from './testing/protocol/explore.ts';
import { firstState, lackingAtRest, noFaults, ourRules, stepsFrom } from './testing/protocol/protocol.ts';
import type { Faults, Rules, Size } from './testing/protocol/protocol.ts';

const statesMax = 100_000;
const two: Size = { visitors: 1, eventsEach: 2 };
const three: Size = { visitors: 1, eventsEach: 3 };
const oneEach: Size = { visitors: 2, eventsEach: 1 };

function check(size: Size, faults: Partial<Faults>, without: Partial<Rules> = {}): Explored {
  const rules = { ...ourRules, ...without };
  const first = firstState(size, { ...noFaults, ...faults });
  return explore(first, (state) => stepsFrom(state, rules, size), lackingAtRest, statesMax);
}

test.each([
  ['nothing goes wrong', three, {}],
  ['a process dies', three, { deaths: 1 }],
  ['two processes die, or one twice', two, { deaths: 2 }],
  ['a process stands still and goes on', two, { pauses: 1 }],
  ['a destination fails', three, { failures: 1 }],
  ['a destination fails twice and a process dies', two, { failures: 2, deaths: 1 }],
  ['a destination fails and a process stands still', two, { failures: 1, pauses: 1 }],
  ['the log has no quorum, and an answer is lost', two, { outages: 1, silences: 1 }],
  ['a log loses its end', three, { cuts: 1 }],
  ['a log loses its end and a process dies', two, { cuts: 1, deaths: 1 }],
  ['a destination fails and a process dies, with two visitors', oneEach, { failures: 1, deaths: 1 }],
  ['an event takes down whoever sends it', three, { poisons: 1 }],
  ['an event takes down whoever sends it, with two visitors', oneEach, { poisons: 1 }],
  ['an event fails, and it or another takes down whoever sends it', two, { failures: 1, poisons: 1 }],
  ['the same, with two visitors', oneEach, { failures: 1, poisons: 1 }],
  ['an event takes down whoever sends it, and a process dies', two, { poisons: 1, deaths: 1 }],
] as const)('protocol: no promise can be broken where %s', (_what, size, faults) => {
  const { states, trace } = check(size, faults);
  expect(trace).toBeUndefined();
  expect(states).toBeGreaterThan(500);
});

// Each of these was a bug, or would have been one.
test.each([
  ['an answer without a sequence is taken for a yes', 'yesNeedsSequence', two, { outages: 1 }, 'LOST: 11, 12'],
  [
    'unfinished frames come after newer ones',
    'unfinishedFirst',
    three,
    { deaths: 1 },
    'OUT OF ORDER: 11 comes after 12',
  ],
  ['whoever stood still is given messages', 'oneOwner', two, { pauses: 1 }, 'TWO OWNERS: 1 is given a message after 2'],
  ['a consumer stands beyond the end of a log that was cut', 'placesPutBack', three, { cuts: 1 }, 'LOST: 13'],
  ['a sequence that is used again is taken for the same message', 'knownByTime', three, { cuts: 1 }, 'LOST: 13'],
  ['a failed event is overtaken', 'visitorsWait', two, { failures: 1 }, 'OUT OF ORDER: 11 comes after 12'],
  ['a frame is acknowledged too early', 'storedBeforeAcknowledged', two, { deaths: 1 }, 'LOST: 11, 12'],
  ['what is set aside is no dead letter', 'setAsideIsKept', two, { poisons: 1 }, 'LOST: 12'],
  [
    'a dead letter of what is set aside has another id each time',
    'lettersAreKnown',
    two,
    { poisons: 1, deaths: 1 },
    'TWICE: 11 is a dead letter again',
  ],
  [
    'all that was worked on in a death is set aside',
    'oneDeathIsNoProof',
    oneEach,
    { poisons: 1 },
    'INNOCENT: 11 is set aside',
  ],
  [
    'what is suspected is worked on beside others',
    'suspectsGoAlone',
    oneEach,
    { poisons: 1 },
    'ENDLESS: 11 takes down one dispatcher after the other',
  ],
] as const)('protocol: where %s, a promise is broken', (_what, rule, size, faults, broken) => {
  const { trace } = check(size, faults, { [rule]: false });
  expect(trace?.at(-1)).toBe(broken);
});

test('protocol: a broken promise is told by the shortest way to it', () => {
  expect(check(two, { outages: 1 }, { yesNeedsSequence: false }).trace?.slice(0, 3)).toEqual([
    'the quorum is lost',
    '11 is seen by a leader without a quorum',
    '11 is a duplicate, without a sequence, and answered',
  ]);
});
