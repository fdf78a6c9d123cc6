import { expect, test } from 'vitest';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { findProblems } from './find-problems.ts';
import type { LookedAt } from './find-problems.ts';

type Destination = LookedAt['destinations'][number];

const destination = (own: Partial<Destination> = {}): Destination => ({
  id: 'd',
  name: 'Shop',
  isLive: true,
  health: { status: 'HEALTHY', successRate: 1, failureCount: 0, missed: [] },
  isAccessRefused: false,
  lately: { succeeded: 10, failed: 0 },
  backlog: { waitingFrames: 0, retryingFrames: 0, deadLetters: 0 },
  warnings: [],
  ...own,
});

const look = (own: Partial<LookedAt>): LookedAt => ({
  sources: [{ id: 's', name: 'Web', lostLately: 0 }],
  destinations: [destination()],
  violations: [],
  oldestUnresolvedMs: null,
  pipelines: 1,
  gateways: 1,
  ...own,
});

test('problems: none are found if all is well', () => {
  expect(findProblems(look({}))).toEqual([]);
});

test('problems: the worst problem comes first, and each problem says what it is about', () => {
  const deadLetters = { waitingFrames: 0, retryingFrames: 0, deadLetters: 2 };
  const problems = findProblems(
    look({
      destinations: [
        destination({ id: 'a', backlog: deadLetters }),
        destination({ id: 'b', health: { status: 'UNHEALTHY', successRate: 0.1, failureCount: 9, missed: [] } }),
      ],
      violations: [{ rule: 'r', name: 'No cards', severity: 'Error', count: 1 }],
      pipelines: 0,
    }),
  );
  expect(problems.map(({ level, id }) => [level, id])).toEqual([
    ['bad', null],
    ['bad', 'b'],
    ['bad', 'r'],
    ['warn', 'a'],
  ]);
  expect(problems[1]?.text).toBe('10 % of its attempts in the last 24 hours succeeded.');
  expect(problems[2]?.text).toBe('1 violation in the last 2 hours.');
});

test('problems: a destination that has begun to fail is listed before its figures for the day look bad', () => {
  const problems = findProblems(look({ destinations: [destination({ lately: { succeeded: 1, failed: 3 } })] }));
  expect(problems).toMatchObject([{ level: 'bad', text: 'Failing: 3 of 4 attempts in the last 15 minutes failed.' }]);
});

test('problems: a destination whose key is refused is listed at once, whatever its success rate is', () => {
  const problems = findProblems(look({ destinations: [destination({ isAccessRefused: true })] }));
  expect(problems).toMatchObject([
    {
      level: 'bad',
      id: 'd',
      text: 'The platform refuses access, as with a wrong key or token: events wait until it grants it.',
    },
  ]);
  const isOff = destination({ isAccessRefused: true, isLive: false });
  expect(findProblems(look({ destinations: [isOff] }))).toEqual([]);
});

test('problems: include the warnings about the settings of a live destination', () => {
  const kind = findDestinationKind('XAds');
  const warnings = kind?.warnings({ ...kind.exampleSettings, eventNames: ' , ' }) ?? [];
  expect(kind?.warnings(kind.exampleSettings)).toEqual([]);
  expect(findProblems(look({ destinations: [destination({ warnings })] }))).toEqual([
    { level: 'warn', kind: 'destination', id: 'd', name: 'Shop', text: 'The event list is empty, so nothing is sent.' },
  ]);
});

test('problems: a destination outside the live version has no problems', () => {
  const failing = destination({ isLive: false, lately: { succeeded: 0, failed: 5 } });
  expect(findProblems(look({ destinations: [failing] }))).toEqual([]);
});

test('problems: events of a source that were not stored are listed first', () => {
  const sources = [
    { id: 's', name: 'Web', lostLately: 0 },
    { id: 't', name: 'App', lostLately: 3 },
  ];
  expect(findProblems(look({ sources, destinations: [destination({ warnings: ['Odd.'] })] }))).toEqual([
    {
      level: 'bad',
      kind: 'source',
      id: 't',
      name: 'App',
      text: '3 events were not stored in the last 24 hours; their senders were asked to retry.',
    },
    { level: 'warn', kind: 'destination', id: 'd', name: 'Shop', text: 'Odd.' },
  ]);
});

test('problems: a destination that skipped events is listed', () => {
  const at = '2026-03-01T12:00:00.000Z';
  const missed = [{ from: at, to: at, events: 2, reason: 'retention' as const }];
  const health = { ...destination().health, missed };
  expect(findProblems(look({ destinations: [destination({ health })] }))).toMatchObject([
    { level: 'warn', id: 'd', text: 'It skipped events; its health lists them.' },
  ]);
});
