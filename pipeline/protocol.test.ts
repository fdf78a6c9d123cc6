import { expect, test } from 'vitest';
import { explore } from './testing/protocol/explore.ts';
import type { Explored } from './testing/protocol/explore.ts';
import { lackingAtRest, stepsFrom } from './testing/protocol/protocol.ts';
import { noFaults, ourRules } from './testing/protocol/rules.ts';
import type { Faults, Rules, Size } from './testing/protocol/rules.ts';
import { firstState } from './testing/protocol/state.ts';

const statesMax = 100_000;
const two: Size = { visitors: 1, eventsEach: 2 };
const three: Size = { visitors: 1, eventsEach: 3 };
const oneEach: Size = { visitors: 2, eventsEach: 1 };
const accounts: Size = { visitors: 2, eventsEach: 1, hasAccountEach: true };
const oneId: Size = { visitors: 2, eventsEach: 1, sharesIds: true };

function check(size: Size, faults: Partial<Faults>, without: Partial<Rules> = {}): Explored {
  const rules = { ...ourRules, ...without };
  const first = firstState(size, { ...noFaults, ...faults });
  return explore(
    first,
    (text) => stepsFrom(text, rules, size),
    (state) => lackingAtRest(state, size),
    statesMax,
  );
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
  ['an event takes down its dispatcher', three, { poisons: 1 }],
  ['an event takes down its dispatcher, with two visitors', oneEach, { poisons: 1 }],
  ['an event fails, and it or another takes down its dispatcher', two, { failures: 1, poisons: 1 }],
  ['the same, with two visitors', oneEach, { failures: 1, poisons: 1 }],
  ['an event takes down its dispatcher, and a process dies', two, { poisons: 1, deaths: 1 }],
  ['the database refuses an event, and a process dies', two, { refusals: 1, deaths: 1 }],
  ['the database refuses an event of one of two accounts', accounts, { refusals: 1, deaths: 1 }],
  ['the database writes nothing of one of two accounts', accounts, { stalls: 1, deaths: 1 }],
  ['a version is published while events wait', two, { failures: 1, publishes: 2 }],
  ['the same, and a process dies', two, { failures: 1, publishes: 1, deaths: 1 }],
  ['two visitors give their events one id, and a destination fails', oneId, { failures: 3 }],
  ['the same, and a process dies', oneId, { failures: 2, deaths: 1 }],
  ['retention removes an event, a destination fails and a process dies', two, { removals: 1, failures: 1, deaths: 1 }],
  ['the same, with two accounts', accounts, { removals: 1, failures: 1, deaths: 1 }],
  ['retention removes an event and a process stands still', two, { removals: 1, pauses: 1 }],
] as const)('protocol: no promise can be broken where %s', (_what, size, faults) => {
  const { states, trace } = check(size, faults);
  expect(trace).toBeUndefined();
  expect(states).toBeGreaterThan(500);
});

// Each case disables one rule, which prevents a bug that existed or would exist without it.
test.each([
  ['an answer without a sequence is taken for a yes', 'yesNeedsSequence', two, { outages: 1 }, 'LOST: 11, 12'],
  [
    'unfinished frames come after newer ones',
    'unfinishedFirst',
    three,
    { deaths: 1 },
    'OUT OF ORDER: 11 comes after 12',
  ],
  [
    'an owner that stood still is given messages',
    'oneOwner',
    two,
    { pauses: 1 },
    'TWO OWNERS: 1 is given a message after 2',
  ],
  ['a consumer stands beyond the end of a log that was cut', 'placesPutBack', three, { cuts: 1 }, 'LOST: 13'],
  ['a sequence that is used again is taken for the same message', 'knownByTime', three, { cuts: 1 }, 'LOST: 13'],
  ['a failed event is overtaken', 'visitorsWait', two, { failures: 1 }, 'OUT OF ORDER: 11 comes after 12'],
  ['a frame is acknowledged too early', 'storedBeforeAcknowledged', two, { deaths: 1 }, 'LOST: 11, 12'],
  ['a quarantined frame is no dead letter', 'quarantinedIsKept', two, { poisons: 1 }, 'LOST: 12'],
  [
    'the dead letter of a quarantined frame has another id each time',
    'lettersAreKnown',
    two,
    { poisons: 1, deaths: 1 },
    'TWICE: 11 is a dead letter again',
  ],
  [
    'all that was worked on in a death is quarantined',
    'oneDeathIsNoProof',
    oneEach,
    { poisons: 1 },
    'INNOCENT: 11 is quarantined',
  ],
  [
    'what is suspected is worked on beside others',
    'suspectsGoAlone',
    oneEach,
    { poisons: 1 },
    'ENDLESS: 11 takes down one dispatcher after the other',
  ],
  // The refused statement is retried for ever, so no later event is resolved either.
  ['an event that is refused is tried again for ever', 'refusedIsLetter', oneEach, { refusals: 1 }, 'LOST: 11, 21'],
  ['an account waits for another', 'accountsWaitAlone', accounts, { stalls: 1 }, 'LOST: 21'],
  [
    'what was decided before a publish is sent after it',
    'decidedAtAttempt',
    two,
    { publishes: 1 },
    'MIXED: version 1 decides about 11, and version 2 sends it',
  ],
  ['a waiting event has the name that its client gave it', 'namedByPlace', oneId, { failures: 2 }, 'LOST: 21'],
  [
    'a message that retention removed counts as lost',
    'absentIsNotLost',
    accounts,
    { removals: 1, deaths: 1 },
    'TWICE: 11 is written to EVENTS again',
  ],
  [
    'retention removes what a reference points to',
    'keptWhileReferenced',
    two,
    { failures: 1, removals: 1 },
    'LOST: 12',
  ],
  [
    'a resolver that stood still writes beside its successor',
    'oneWriter',
    two,
    { pauses: 1 },
    'TWICE: 11 is written to EVENTS again',
  ],
] as const)('protocol: where %s, a promise is broken', (_what, rule, size, faults, broken) => {
  const { trace } = check(size, faults, { [rule]: false });
  expect(trace?.at(-1)).toBe(broken);
});

test('protocol: a broken guarantee is shown with the shortest trace that leads to it', () => {
  expect(check(two, { outages: 1 }, { yesNeedsSequence: false }).trace?.slice(0, 3)).toEqual([
    'the quorum is lost',
    '11 is seen by a leader without a quorum',
    '11 is a duplicate, without a sequence, and answered',
  ]);
});
