import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyScan, scanBody } from '../../payload/scan-body.ts';
import { parseBatch } from './batch-rows.ts';

const scan = new BodyScan();
const rowsMax = 100;

const row = fc.oneof(
  fc.record({
    event: fc.string({ minLength: 1 }),
    distinctId: fc.uuid(),
    properties: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
  fc.record({ event: fc.constant('a'), distinctId: fc.uuid(), token: fc.string({ minLength: 1 }) }),
  fc.jsonValue({ maxDepth: 3 }),
);
const batch = fc.record({
  token: fc.string(),
  events: fc.array(row, { maxLength: 6 }),
  more: fc.jsonValue({ maxDepth: 2 }),
});

/** A batch as JSON, and the same with a few characters changed. */
const written = fc
  .record({
    json: batch.map((value) => JSON.stringify(value)),
    changes: fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.nat(2),
        put: fc.constantFrom('', ' ', '\n', '\0', '"', ',', ']', '[', '}', '1'),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ json, changes }) =>
    changes.reduce((now, { at, removed, put }) => {
      const index = at % (now.length + 1);
      return now.slice(0, index) + put + now.slice(index + removed);
    }, json),
  );

const tryParse = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

test('parse batch: a body is split exactly if it is valid JSON, into the same fields and rows as by JSON.parse', () => {
  fc.assert(
    fc.property(written, (json) => {
      const body = Buffer.from(json);
      const problem = scanBody(scan, body, rowsMax);
      const parsed = problem === undefined ? parseBatch(scan, body) : undefined;
      const expected = tryParse(body.toString());
      const isObject = typeof expected === 'object' && expected !== null && !Array.isArray(expected);
      expect(parsed !== undefined).toBe(isObject && problem !== 'duplicate_key');
      if (parsed === undefined) return;
      const { events, ...top } = expected as { events?: unknown };
      const hasRows = Array.isArray(events);
      expect(parsed.top).toEqual(hasRows ? { ...top, events: [] } : expected);
      const rows = parsed.rows.map((value, index) => {
        const { isPlain, start, end } = scan.rows[index] ?? {};
        return isPlain ? (JSON.parse(body.toString('utf8', start, end)) as unknown) : value;
      });
      expect(rows).toEqual(hasRows ? events : []);
    }),
    { numRuns: 2_000 },
  );
});

test('parse batch: rows beyond the limit are left alone', () => {
  const body = Buffer.from(JSON.stringify({ token: 'a', events: Array.from({ length: 8 }, (_, id) => ({ id })) }));
  const limited = new BodyScan();
  expect(scanBody(limited, body, 3)).toBeUndefined();
  expect(parseBatch(limited, body)?.rows).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
});
