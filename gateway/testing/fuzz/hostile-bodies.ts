import fc from 'fast-check';

/** A POST to one of the routes that read JSON. */
export type HostilePost = { readonly route: 'track' | 'identify' | 'batch'; readonly body: Buffer };

const pieces =
  '{ } [ ] , : " \\ \\u \\ud800 \n \u0000 é "a" "token" "event" "events" "distinctId" "time" "userProperties" 1e999 -0 9007199254740993 null true "__proto__" "constructor" "prototype"'.split(
    ' ',
  );

/** Bodies of faulty and malicious senders: random bytes, truncated and broken JSON, odd values. */
export function hostilePost(token: string): fc.Arbitrary<HostilePost> {
  const piece = fc.constantFrom(...pieces, `"${token}"`);
  const fields = fc.record({
    token: fc.constant(token),
    event: fc.anything(),
    time: fc.anything(),
    userId: fc.anything(),
  });
  const valid = fc.record({ token: fc.constant(token), event: fc.string({ minLength: 1 }), properties: fc.object() });
  const row = fc.record({ event: fc.string({ minLength: 1 }), distinctId: fc.string() });
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.array(piece, { maxLength: 40 }).map((found) => Buffer.from(found.join(''))),
    fields.map((value) => Buffer.from(stringify(value))),
    fc.tuple(fields, fc.nat(200)).map(([value, cut]) => Buffer.from(stringify(value)).subarray(0, cut)),
    fc.array(fc.anything(), { maxLength: 5 }).map((events) => Buffer.from(stringify({ token, events }))),
    fc.array(row, { maxLength: 5 }).map((events) => Buffer.from(stringify({ token, events }))),
    valid.map((value) => Buffer.from(stringify(value))),
    // Valid JSON with one byte that is not UTF-8.
    fc.tuple(valid, fc.nat(), fc.integer({ min: 0x80, max: 0xff })).map(([value, at, byte]) => {
      const bytes = Buffer.from(stringify(value));
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
    // The same key many times.
    fc.integer({ min: 2, max: 50 }).map((times) => {
      const doubled = Array.from({ length: times }, (_, i) => `"event":"e${i}"`).join(',');
      return Buffer.from(`{"token":"${token}",${doubled}}`);
    }),
    fc.integer({ min: 2, max: 2_000 }).map((depth) => {
      const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      return Buffer.from(`{"token":"${token}","event":"deep","properties":{"a":${nested}}}`);
    }),
    fc.integer({ min: 1, max: 3_000 }).map((count) => {
      const keys = Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(',');
      return Buffer.from(`{"token":"${token}","event":"wide","properties":{${keys}}}`);
    }),
  );
  return fc.record({ route: fc.constantFrom('track', 'identify', 'batch'), body });
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? '';
  } catch {
    return '{}';
  }
}
