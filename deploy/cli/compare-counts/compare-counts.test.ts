import { expect, onTestFinished, test } from 'vitest';
import { compareCounts, findRemarks } from './compare-counts.ts';
import { readCsv } from './read-csv.ts';
import { dayOf, readExport } from './read-export.ts';
import { showComparison } from './show-comparison.ts';

const anyColumn = { event: undefined, time: undefined, count: undefined };
const counted = (event: string, day: string, count: number) => ({ event, day, count });

test('read csv: fields may hold quotes, line breaks and commas, and lines may end in any way', () => {
  expect(readCsv('a,b\r\n"x, ""y""\n",2\n\n,\n3,"4"')).toEqual([
    ['a', 'b'],
    ['x, "y"\n', '2'],
    ['', ''],
    ['3', '4'],
  ]);
  expect(() => readCsv('a\n"b')).toThrow('line 2: a quote is not closed');
  expect(() => readCsv('"a"b')).toThrow('line 1: text after a closing quote');
});

test.each([
  ['counts as CSV', 'event,day,count\nSigned Up,2026-11-20,3\nSigned Up,2026-11-20,2\n', anyColumn],
  [
    'events as JSON',
    JSON.stringify(Array.from({ length: 5 }, () => ({ event: 'Signed Up', timestamp: '2026-11-20T23:59:59Z' }))),
    anyColumn,
  ],
  ['events as JSON lines', '{"name":"Signed Up","time":1763683199000}\n'.repeat(5), anyColumn],
  [
    'columns that were named',
    'what,when,n\nSigned Up,2026-11-20 01:00:00,5',
    { event: 'what', time: 'when', count: 'n' },
  ],
])('read export: %s', (_, text, columns) => {
  const [first, ...others] = readExport(text, columns);
  expect(first).toEqual(counted('Signed Up', first?.day.startsWith('2025') === true ? '2025-11-20' : '2026-11-20', 5));
  expect(others).toEqual([]);
});

test('read export: calls and events that have another name here are renamed', () => {
  const csv =
    'type,event,timestamp\npage,,2026-11-20\nidentify,,2026-11-20\ntrack,$pageview,2026-11-20\ntrack,Paid,2026-11-20';
  expect(readExport(csv, anyColumn)).toEqual([
    counted('Page Viewed', '2026-11-20', 2),
    counted('$identify', '2026-11-20', 1),
    counted('Paid', '2026-11-20', 1),
  ]);
});

test.each([
  ['', 'it has no rows'],
  ['a,b\n1,2', 'no column is named event or event_name'],
  ['event,b\n1,2', 'no column is named day or date'],
  ['event,day\nx,soon', 'row 1 has no time that can be read'],
  ['event,day,count\nx,2026-11-20,many', 'row 1 has no whole number of events'],
  ['event,day\n,2026-11-20', 'row 1 has no name of an event'],
  ['[1]', 'neither CSV nor an array of JSON objects'],
])('read export: %j is refused and says why', (text, problem) => {
  expect(() => readExport(text, anyColumn)).toThrow(problem);
});

test('day of a time: in UTC, for times in seconds, in milliseconds and as data warehouses write them', () => {
  const times = ['2026-11-20T23:30:00-02:00', '2026-11-20 23:30:00.123 UTC', 1_763_683_199, '1763683199000', 'soon'];
  expect(times.map(dayOf)).toEqual(['2026-11-21', '2026-11-20', '2025-11-20', '2025-11-20', undefined]);
});

test('day of a time: a time without a zone is in UTC in every form, wherever the command runs', () => {
  const own = process.env['TZ'];
  onTestFinished(() => {
    if (own === undefined) delete process.env['TZ'];
    else process.env['TZ'] = own;
  });
  process.env['TZ'] = 'Europe/Berlin';
  const times = [
    '11/22/2026',
    '2026/11/22',
    'Nov 22, 2026 00:30',
    '11/22/2026 12:30 AM',
    '20261122',
    20_261_122,
    'Nov 22, 2026 01:30 GMT+0100',
    'Sun, 22 Nov 2026 00:30:00 +0000',
    'Nov 21, 2026 19:30 EST',
  ];
  expect(times.map(dayOf)).toEqual(times.map(() => '2026-11-22'));
  expect(['20261399', '2026-02-40'].map(dayOf)).toEqual([undefined, undefined]);
});

const ours = {
  sinceMs: Date.parse('2026-11-19T12:00:00Z'),
  untilMs: Date.parse('2026-11-22T12:00:00Z'),
  counts: [
    { ...counted('Paid', '2026-11-19', 1), isSampled: false },
    { ...counted('Paid', '2026-11-20', 98), isSampled: false },
    { ...counted('Paid', '2026-11-21', 102), isSampled: false },
    { ...counted('Signed Up', '2026-11-20', 5), isSampled: true },
    { ...counted('Viewed', '2026-11-20', 7), isSampled: false },
  ],
};
const theirs = [
  counted('Paid', '2026-11-19', 9),
  counted('Paid', '2026-11-20', 100),
  counted('Paid', '2026-11-21', 100),
  counted('signed_up', '2026-11-20', 5),
  counted('Viewed', '2026-11-20', 7),
];

test('compare counts: each event name and day is compared, and other days and other spellings are remarked on', () => {
  const compared = compareCounts(theirs, ours, 0);
  expect(compared.map(({ event, day, verdict }) => `${day} ${event} ${verdict}`)).toEqual([
    '2026-11-19 Paid partial',
    '2026-11-20 Paid fewer',
    '2026-11-20 Signed Up only-here',
    '2026-11-20 Viewed same',
    '2026-11-20 signed_up only-there',
    '2026-11-21 Paid more',
  ]);
  const remarks = findRemarks(compared, 0);
  expect(remarks).toEqual([
    { kind: 'other-days', event: 'Paid' },
    { kind: 'other-spelling', theirs: 'signed_up', ours: 'Signed Up' },
  ]);
  const shown = showComparison(compared, remarks);
  for (const words of [
    '2 fewer here (2.0 %)',
    'not compared',
    'all days together agree',
    '"signed_up" there looks like "Signed Up" here',
    'RECENT_EVENTS_PER_S_MAX',
    'allowedEvents',
    '1 of 5 agree.',
  ]) {
    expect(shown).toContain(words);
  }
});

test('compare counts: a tolerance is a share of their count, and a day that is not over is only partial', () => {
  const verdicts = (tolerance: number): readonly string[] =>
    compareCounts(theirs.slice(1, 3), ours, tolerance)
      .filter(({ event }) => event === 'Paid')
      .map(({ verdict }) => verdict);
  expect(verdicts(0.02)).toEqual(['partial', 'same', 'same']);
  expect(verdicts(0.019)).toEqual(['partial', 'fewer', 'more']);
  const today = { ...ours, counts: [], sinceMs: undefined };
  expect(compareCounts([counted('Paid', '2026-11-22', 1)], ours, 0)[5]?.verdict).toBe('partial');
  expect(compareCounts([counted('Paid', '2026-11-20', 1)], today, 0)[0]?.verdict).toBe('partial');
});
