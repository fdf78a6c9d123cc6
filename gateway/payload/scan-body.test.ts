import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { BodyScan, scanBody } from './scan-body.ts';

const scan = new BodyScan();
const rowsMax = 50;

const scanText = (text: string, rows = rowsMax) => {
  const bytes = Buffer.from(text);
  const problem = scanBody(scan, bytes, rows);
  return { problem, bytes };
};

/** Strings with everything JSON has to escape, and code points of every length. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', 'constructor', 'token', 'events', '{', '}', '[', ']', ',', ':', '"', '\\', '\\"', '\n'),
);

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

const space = fc.array(fc.constantFrom(' ', '\n', '\r', '\t'), { maxLength: 3 }).map((parts) => parts.join(''));

/** The same JSON with white space wherever JSON allows it, and with some strings written in escapes. */
const spelled = (json: unknown) =>
  fc.infiniteStream(fc.record({ space, escape: fc.boolean() })).map((choices) => {
    const next = () => choices.next().value as { space: string; escape: boolean };
    const string = (raw: string): string => {
      if (!next().escape) return JSON.stringify(raw);
      const units = Array.from({ length: raw.length }, (_, i) => raw.charCodeAt(i).toString(16).padStart(4, '0'));
      return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
    };
    const write = (node: unknown): string => {
      const gap = (): string => next().space;
      if (typeof node === 'string') return string(node);
      if (typeof node !== 'object' || node === null) return JSON.stringify(node);
      if (Array.isArray(node)) return `[${gap()}${node.map((item) => write(item) + gap()).join(`,${gap()}`)}]`;
      const members = Object.entries(node).map(
        ([key, item]) => `${string(key)}${gap()}:${gap()}${write(item)}${gap()}`,
      );
      return `{${gap()}${members.join(`,${gap()}`)}}`;
    };
    return `${next().space}${write(json)}${next().space}`;
  });

const body = fc
  .record({
    token: text,
    events: fc.array(value, { maxLength: 6 }),
    rest: fc.dictionary(
      text.filter((key) => key !== 'token' && key !== 'events'),
      value,
      { maxKeys: 4, noNullPrototype: true },
    ),
  })
  .map(({ token, events, rest }) => ({ ...rest, token, events }));

const depthOf = (node: unknown): number =>
  typeof node === 'object' && node !== null ? 1 + Math.max(0, ...Object.values(node).map(depthOf)) : 0;
const keysOf = (node: unknown): number => {
  if (typeof node !== 'object' || node === null) return 0;
  const below = Object.values(node).reduce<number>((sum, item) => sum + keysOf(item), 0);
  return below + (Array.isArray(node) ? 0 : Object.keys(node).length);
};
const hasNull = (node: unknown): boolean => JSON.stringify(node).includes('\\u0000');

test('scanBody: every row found is the row that JSON.parse finds', () => {
  fc.assert(
    fc.property(
      body.chain((json) => spelled(json).map((written) => ({ json, written }))),
      ({ written }) => {
        const expected = JSON.parse(written) as { token: string; events: unknown[] };
        const { problem, bytes } = scanText(written);
        expect(problem).toBeUndefined();
        expect(scan.rowCount).toBe(expected.events.length);
        expected.events.forEach((row, index) => {
          const { start = 0, end = 0, facts } = scan.rows[index] ?? {};
          expect(JSON.parse(bytes.toString('utf8', start, end))).toEqual(row);
          expect(facts?.depth).toBe(depthOf(row));
          expect(facts?.keys).toBe(keysOf(row));
          expect(facts?.nulls).toBe(hasNull(row));
        });
        expect(JSON.parse(`"${bytes.toString('utf8', scan.tokenStart, scan.tokenEnd)}"`)).toBe(expected.token);
      },
    ),
  );
});

test('scanBody: its facts about a body agree with JSON.parse, and the scanned bytes still have the same meaning', () => {
  fc.assert(
    fc.property(
      body.chain((json) => spelled(json)),
      (written) => {
        const expected: unknown = JSON.parse(written);
        const { bytes } = scanText(written, 0);
        expect(scan.facts.depth).toBe(depthOf(expected));
        expect(scan.facts.keys).toBe(keysOf(expected));
        const deepKey = scan.deepStart < 0 ? undefined : bytes.toString('utf8', scan.deepStart, scan.deepEnd);
        const deepest =
          deepKey === undefined ? 0 : depthOf((expected as JsonObject)[JSON.parse(`"${deepKey}"`) as string]);
        expect(deepest).toBe(depthOf(expected) - 1);
        expect(scan.facts.nulls).toBe(hasNull(expected));
        expect(bytes.includes('\n')).toBe(false);
        expect(JSON.parse(bytes.toString('utf8'))).toEqual(expected);
      },
    ),
  );
});

test('scanBody: ASCII is recognised', () => {
  fc.assert(
    fc.property(fc.record({ a: fc.string({ unit: 'grapheme' }) }), (json) => {
      const { bytes } = scanText(JSON.stringify(json));
      expect(scan.facts.bits < 0x80).toBe(bytes.every((byte) => byte < 0x80));
    }),
  );
});

test('scanBody: any bytes get an answer, and a body that JSON.parse reads as an object is never called malformed', () => {
  const fragment = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    'u',
    'token',
    '"events"',
    '1',
    ' ',
    'null',
    '\u0080',
  );
  const soup = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(fragment, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  );
  fc.assert(
    fc.property(soup, (bytes) => {
      const parsed = tryParse(bytes.toString('utf8'));
      const problem = scanBody(scan, bytes, rowsMax);
      if (problem !== 'malformed') return;
      expect(typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

test.each([
  { name: 'a key that hides a prototype', json: '{"__proto__":1}', suspicious: true },
  { name: 'the same with white space', json: '{"__proto__" \n:1}', suspicious: true },
  { name: 'the same in escapes', json: '{"\\u005f_proto__":1}', suspicious: true },
  { name: 'constructor', json: '{"a":{"constructor":{}}}', suspicious: true },
  { name: 'the word as a value', json: '{"a":"__proto__"}', suspicious: false },
  { name: 'a key that only begins alike', json: '{"connections":2}', suspicious: true },
  { name: 'ordinary keys', json: '{"event":1,"properties":{"eventName":2}}', suspicious: false },
])('scanBody: $name, suspicious: $suspicious', ({ json, suspicious }) => {
  scanText(json);
  expect(scan.facts.suspicious).toBe(suspicious);
});

test.each([
  ['token twice', '{"token":"a","token":"b"}'],
  ['token twice, once in escapes', '{"token":"a","\\u0074oken":"b"}'],
  ['events twice', '{"events":[],"events":[]}'],
])('scanBody: a body with %s is refused', (_, json) => {
  expect(scanText(json).problem).toBe('duplicate_key');
});

test('scanBody: nothing after an unknown token is scanned', () => {
  const text = `{"events":[{"event":"a"}],"token":"unknown","b":{"c":1}} no JSON`;
  const asked: string[] = [];
  const isKnown = (token: string): boolean => asked.push(token) === 0;
  expect(scanBody(scan, Buffer.from(text), rowsMax, isKnown)).toBe('unknown_token');
  expect(scanBody(scan, Buffer.from(text), rowsMax, () => true)).toBe('malformed');
  expect(asked).toEqual(['unknown']);
});

test.each([
  ['cut within its token', '{"token":"src_li'],
  ['whose token is written with an escape', '{"token":"src_\\u0061"}'],
  ['whose token is no text', '{"token":7}'],
  ['without a token of its own', '{"events":[{"token":"unknown"}]}'],
])('scanBody: a body %s is not refused for an unknown token', (_, text) => {
  const isKnown = (): boolean => false;
  expect(scanBody(scan, Buffer.from(text), rowsMax, isKnown)).not.toBe('unknown_token');
});

test('scanBody: rows beyond the limit are counted but not kept', () => {
  const { problem } = scanText(JSON.stringify({ events: Array.from({ length: 80 }, (_, i) => ({ i })) }));
  expect(problem).toBeUndefined();
  expect(scan.rowCount).toBe(80);
  expect(scan.rows.length).toBeLessThanOrEqual(rowsMax);
});

test('scanBody: half of a surrogate pair is replaced, a complete pair is not', () => {
  const { bytes } = scanText('{"a":"\\ud83d\\ude00","b":"\\ud83d","c":"\\ude00\\ud83d","d":"\\\\ud83d\\ude00"}');
  expect(JSON.parse(bytes.toString())).toEqual({ a: '😀', b: '\ufffd', c: '\ufffd\ufffd', d: '\\ud83d\ufffd' });
});
