import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { compareMembers, memberAt } from './compare-members.ts';
import { compareRecording } from './compare-recording.ts';
import { createSummary } from './comparison-summary.ts';
import { lineBytesMax, readRecordings } from './read-recordings.ts';
import type { RecordingLine } from './read-recordings.ts';
import { recordedPayload } from './recorded-payload.ts';
import { showRecording, showSummary } from './show-comparison.ts';

const missing = (path: string, theirs: unknown) => ({ kind: 'missing', path, theirs });
const extra = (path: string, ours: unknown) => ({ kind: 'extra', path, ours });
const other = (path: string, theirs: unknown, ours: unknown) => ({ kind: 'other value', path, theirs, ours });

test.each([
  ['equal', { a: { b: [1, 'x'] } }, { a: { b: [1, 'x'] } }, []],
  ['a member that is missing', { a: 1, b: { c: 2 } }, { a: 1 }, [missing('b.c', 2)]],
  ['a member more', { a: 1 }, { a: 1, b: [{ c: 2 }] }, [extra('b[0].c', 2)]],
  ['a number that is a text', { a: [1] }, { a: ['1'] }, [other('a[0]', 1, '1')]],
  ['a list for an object', { a: [1, 2] }, { a: { b: 1 } }, [other('a', [1, 2], { b: 1 })]],
  ['null, empty lists and empty objects are no members', { a: null, b: [], c: {}, d: [{}] }, {}, []],
  [
    'a list of one value is the value',
    { a: 'x', b: ['y'], c: ['z'] },
    { a: ['x'], b: 'y', c: 'w' },
    [other('c', 'z', 'w')],
  ],
  ['JSON in a text', { a: ['{"b":1,"c":2}'] }, { a: [{ b: 1 }] }, [missing('a[0].c', 2)]],
  ['a text that only looks like JSON', { a: '[x' }, { a: '[y' }, [other('a', '[x', '[y')]],
  ['the payload as a whole', 'x', { a: 1 }, [other('', 'x', { a: 1 })]],
  ['inherited names are no members', {}, { constructor: 1 }, [extra('constructor', 1)]],
])('compare members: %s', (_, theirs, ours, differences) => {
  expect(compareMembers(theirs, ours)).toEqual(differences);
});

test('compare members: a member is found by its path', () => {
  expect(memberAt({ data: [{ a: 1 }, { a: 2 }] }, 'data[1].a')).toBe(2);
  expect(memberAt({ data: [] }, 'data[1].a')).toBeUndefined();
});

const transformer = {
  version: '1',
  type: 'REST',
  method: 'POST',
  endpoint: 'https://x.example/y',
  params: { key: '1' },
};

test.each([
  [
    'the payload itself',
    { url: 'https://shop.example.com', name: 'a' },
    { url: 'https://shop.example.com', name: 'a' },
  ],
  ['RudderStack, JSON', { ...transformer, body: { JSON: { a: 1 }, FORM: {} } }, { a: 1 }],
  ['RudderStack, a batch', { ...transformer, body: { JSON: {}, JSON_ARRAY: { batch: '[{"a":1}]' } } }, [{ a: 1 }]],
  ['RudderStack, a form', { ...transformer, body: { JSON: {}, FORM: { a: '1' } } }, { a: '1' }],
  ['RudderStack, a query', { ...transformer, method: 'GET', body: { JSON: {}, FORM: {} } }, { key: '1' }],
  ['a request', { url: 'https://x.example/y', body: '{"a":1}' }, { a: 1 }],
  ['a request with a form', { url: 'https://x.example/y', body: 'a=1&b=x%20y' }, { a: '1', b: 'x y' }],
  ['a request with a query', { method: 'GET', url: 'https://x.example/y?a=1' }, { a: '1' }],
  ['a request of an event tester', { request: { url: 'https://x.example/y', body: { a: 1 } }, response: {} }, { a: 1 }],
  [
    'requests in turn',
    [
      { url: 'https://x.example/1', body: { a: 1 } },
      { url: 'https://x.example/2', body: { b: 2 } },
    ],
    { a: 1, next: { b: 2 } },
  ],
  ['a list that is a payload', [{ $token: 't' }], [{ $token: 't' }]],
])('recorded payload: %s', (_, expected, payload) => {
  expect(recordedPayload(expected)).toEqual(payload);
});

async function read(chunks: AsyncIterable<Buffer>): Promise<readonly RecordingLine[]> {
  const lines: RecordingLine[] = [];
  for await (const line of readRecordings(chunks)) lines.push(line);
  return lines;
}

const linesOf = (...chunks: readonly string[]): Promise<readonly RecordingLine[]> =>
  read(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));

const recording = { kind: 'Plausible', event: {}, expected: {} };

test('recordings: what is wrong with a line is reported with its number, and the others are read', async () => {
  const text = JSON.stringify(recording);
  const lines = await linesOf(
    text.slice(0, 9),
    `${text.slice(9)}\r\n\n{"kind"`,
    `:\n{"kind":"x","event":[]}\n[]\n${text}`,
  );
  expect(lines).toEqual([
    { line: 1, recording },
    { line: 3, problem: expect.stringContaining('is not JSON') as string },
    { line: 4, problem: expect.stringMatching(/expected|event/) as string },
    { line: 5, problem: expect.stringContaining('must be object') as string },
    { line: 6, recording },
  ]);
});

test('recordings: an unknown member is named, with the members that are known', async () => {
  const [line] = await linesOf(JSON.stringify({ ...recording, expectd: {} }));
  expect(line).toMatchObject({ problem: expect.stringMatching(/^expectd: is not a member.+ expected, at$/) });
});

test('recordings: a line that is too long is reported, and the next line is read', async () => {
  const part = 'x'.repeat(lineBytesMax / 4);
  const lines = await linesOf(...Array.from({ length: 9 }, () => part), `\n${JSON.stringify(recording)}\n`);
  expect(lines).toEqual([
    { line: 1, problem: `is longer than ${lineBytesMax} bytes` },
    { line: 2, recording },
  ]);
});

const everything = { onlyExpected: false, ignored: [] };
const timestamp = '2026-01-20T10:00:00.000Z';
const quiz = {
  kind: 'Plausible',
  settings: { domain: 'shop.example.com' },
  event: {
    type: 'track',
    event: 'Quiz Finished',
    userId: 'u1',
    timestamp,
    context: { ip: '203.0.113.7', userAgent: 'Mozilla/5.0', page: { url: 'https://shop.example.com/' } },
    properties: { score: 7 },
  },
  expected: {
    name: 'Quiz Finished',
    domain: 'shop.example.com',
    url: 'https://shop.example.com/',
    props: { score: 7 },
  },
};

test('comparison: the request for an event is the one that gateway, resolver and kind make, whenever the event happened', () => {
  expect(compareRecording(quiz, everything)).toEqual({ verdict: 'same', differences: [] });
  const differs = { ...quiz, expected: { ...quiz.expected, name: 'quiz_finished', props: undefined } };
  expect(compareRecording(differs, everything)).toEqual({
    verdict: 'differs',
    differences: [other('name', 'quiz_finished', 'Quiz Finished'), extra('props.score', 7)],
  });
  expect(compareRecording(differs, { onlyExpected: true, ignored: ['name'] }).verdict).toBe('same');
  expect(compareRecording({ ...quiz, expected: { score: 7 }, at: 'props' }, everything).verdict).toBe('same');
});

test('comparison: an event that only one side sends is reported with the reason', () => {
  const { context: _, ...server } = quiz.event;
  const refused = compareRecording({ ...quiz, event: server }, everything);
  expect([refused.verdict, refused.reason]).toEqual(['only-there', expect.stringMatching(/^refused: \S/)]);
  const alias = { ...quiz, event: { type: 'alias', userId: 'u1', previousId: 'u0', timestamp } };
  expect(compareRecording(alias, everything).reason).toMatch(/^skipped: \S/);
  expect(compareRecording({ ...alias, expected: 'skipped' }, everything).verdict).toBe('same');
  expect(compareRecording({ ...quiz, expected: 'skipped' }, everything).verdict).toBe('only-here');
});

test.each([
  [
    'FACEBOOK_CONVERSIONS',
    { kind: 'FACEBOOK_CONVERSIONS' },
    'kind: "FACEBOOK_CONVERSIONS" is not a destination type: it is Facebook here',
  ],
  ['an unknown kind', { kind: 'Fax' }, 'kind: "Fax" is not a destination type'],
  ['an unknown setting', { settings: { domian: 'x' } }, 'settings.domian: Plausible has no such setting'],
  ['a setting that cannot be used', { settings: { domain: 7 } }, 'settings.domain must be text'],
  ['a required setting left out', { settings: { domain: null } }, 'domain'],
  ['an event without a time', { event: { type: 'page', userId: 'u1' } }, 'event: needs a timestamp'],
  ['an unknown call', { event: { type: 'visit', userId: 'u1', timestamp } }, 'event: type must be one of'],
])('comparison: %s is an error that names the member', (_, change, problem) => {
  expect(() => compareRecording({ ...quiz, ...change }, everything)).toThrow(problem);
});

test('summary: differences are counted by kind and by member, over all list indexes, up to a maximum of members', () => {
  const summary = createSummary();
  const differs = (paths: readonly string[]) =>
    ({
      verdict: 'differs',
      differences: paths.map((path) => ({ kind: 'missing' as const, path, theirs: 1 })),
    }) as const;
  summary.add('Plausible', { verdict: 'same', differences: [] });
  summary.add('Braze', differs(['events[0].id', 'events[1].id']));
  summary.add('Braze', differs(Array.from({ length: 502 }, (_, i) => `events[0].p${i}`)));
  const [braze, plausible] = summary.kinds();
  expect(plausible).toMatchObject({ kind: 'Plausible', same: 1, differs: 0, members: [] });
  expect(braze?.members[0]).toEqual({ kind: 'missing', path: 'events[].id', count: 2 });
  expect([braze?.differs, braze?.members.length, braze?.otherDifferences]).toEqual([2, 500, 3]);
  expect(showSummary(summary.kinds())).toContain('Braze: 0 the same, 2 differ\n  2 × missing events[].id\n');
});

test('vendor events: each event is sent as the reference of its platform shows it', async () => {
  const file = createReadStream(join(import.meta.dirname, 'testing/vendor-events.jsonl')) as AsyncIterable<Buffer>;
  const lines = await read(file);
  expect(lines.length).toBeGreaterThan(200);
  const shown = lines.map((line) =>
    'problem' in line
      ? line.problem
      : showRecording(line.line, line.recording, compareRecording(line.recording, { onlyExpected: true, ignored: [] })),
  );
  expect(shown.join('')).toBe('');
});

test('example: only one line differs, and the difference is shown', async () => {
  const lines = await read(createReadStream(join(import.meta.dirname, 'example.jsonl')) as AsyncIterable<Buffer>);
  const shown = lines.map((line) =>
    'problem' in line
      ? line.problem
      : showRecording(line.line, line.recording, compareRecording(line.recording, everything)),
  );
  expect(shown.join('')).toBe(
    'line 3  Plausible  the payload alone\n  other value  domain: there "shop.example.com", here "example.com"\n',
  );
});
