import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerReader } from './read-answer.ts';
import type { ReadAnswer } from './read-answer.ts';
import { anyText } from '../testing/any-text.ts';

/** Reads the pieces until a response is complete; `ends`: the server then closes the connection. */
function read(pieces: readonly Buffer[], ends = false): ReadAnswer | undefined {
  const reader = new AnswerReader();
  for (const piece of pieces) {
    const answer = reader.push(piece);
    if (answer !== undefined) return answer;
  }
  return ends ? reader.end() : undefined;
}

const readText = (text: string, ends = false) => read([Buffer.from(text, 'latin1')], ends);
const shown = (read: ReadAnswer | undefined) =>
  read === undefined
    ? undefined
    : { status: read.answer.status, headers: read.answer.headers, body: read.answer.body, idleMs: read.idleMs };

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

type Written = {
  status: number;
  fields: [string, string][];
  body: string;
  framing: 'length' | 'chunked' | 'close';
  sizes: number[];
};

const written: fc.Arbitrary<Written> = fc.record({
  status: fc.constantFrom(200, 201, 400, 429, 503),
  fields: fc.array(fc.tuple(fc.stringMatching(/^x-[a-z0-9-]{1,8}$/), fc.stringMatching(/^[!-~]{0,12}$/)), {
    maxLength: 5,
  }),
  body: anyText({ maxLength: 300 }).map((text) => text.toWellFormed()),
  framing: fc.constantFrom('length', 'chunked', 'close'),
  sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
});

function write({ status, fields, body, framing, sizes }: Written): Buffer {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status} Whatever it is`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  if (framing === 'length') lines.push(`Content-Length: ${bytes.length}`);
  if (framing === 'chunked') lines.push('Transfer-Encoding: chunked');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  if (framing !== 'chunked') return Buffer.concat([head, bytes]);
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const chunk = bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1));
    chunks.push(Buffer.from(`${chunk.length.toString(16)};a=b\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([head, ...chunks, Buffer.from('0\r\nx-trailer: 1\r\n\r\n')]);
}

test('answer: reads the same in every framing and however its bytes are split', () => {
  fc.assert(
    fc.property(written, fc.array(fc.nat(2_000), { maxLength: 12 }), (answer, places) => {
      const found = shown(read(cut(write(answer), places), answer.framing === 'close'));
      expect(found?.status).toBe(answer.status);
      expect(found?.body).toBe(answer.body);
      for (const [name, value] of answer.fields) expect(found?.headers[name]?.split(', ')).toContain(value);
      expect(found?.idleMs).toBe(answer.framing === 'close' ? 0 : 4_000);
    }),
  );
});

test('answers: several answers over one connection are read one by one', () => {
  fc.assert(
    fc.property(fc.array(written, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(900)), (answers, places) => {
      const reader = new AnswerReader();
      for (const answer of answers.map(
        (each) => ({ ...each, framing: each.framing === 'close' ? 'length' : each.framing }) as const,
      )) {
        const pieces = cut(write(answer), places);
        const whole = pieces.map((piece) => reader.push(piece));
        expect(whole.find((each) => each !== undefined)?.answer.body).toBe(answer.body);
      }
    }),
  );
});

test('answer: any bytes give an answer, an error, or a wait for more', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
    fc.tuple(written, fc.nat(400), fc.nat(255)).map(([answer, at, byte]) => {
      const made = write(answer);
      made[at % made.length] = byte;
      return made;
    }),
  );
  fc.assert(
    fc.property(bytes, (all) => {
      try {
        read([all], true);
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^ANSWER_/) as string });
      }
    }),
  );
});

test('answer: interim responses before the final one are skipped', () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
  expect(shown(readText(`${early}HTTP/1.1 204 No Content\r\n\r\n`))).toMatchObject({ status: 204, body: '' });
});

test('answer: values of a repeated header are joined into one, in order', () => {
  expect(shown(readText('HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:2 \r\ncontent-length: 0\r\n\r\n'))?.headers).toEqual({
    'x-a': '1, 2',
    'content-length': '0',
  });
});

test.each([
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 4_000],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=15, max=9\r\n\r\n', 13_000],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=1\r\n\r\n', 0],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=999999999\r\n\r\n', 600_000],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Close\r\n\r\n', 0],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', 0],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n', 4_000],
  ['HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n0\r\n\r\n', 0],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n', 0],
  ['HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n', 4_000],
])('answer: %o: the connection may stay idle for %i ms', (text, idleMs) => {
  expect(readText(text)?.idleMs).toBe(idleMs);
});

test.each([
  ['content-length: 2\r\ncontent-length: 2', 'ok', 'ok', 4_000],
  ['content-length: 2, 2', 'ok', 'ok', 4_000],
  ['content-length: 2\r\ncontent-length: 3', 'ok', '', 0],
  ['content-length: 78\r\ntransfer-encoding: chunked', '2\r\nok\r\n0\r\n\r\n', 'ok', 0],
  ['transfer-encoding: chunked\r\ncontent-length: 2', '2\r\nok\r\n0\r\n\r\n', 'ok', 0],
  ['transfer-encoding: identity\r\ncontent-length: 2', 'ok', 'ok', 0],
])(
  'answer: %o: its status counts, and the connection is reused only if the end of the answer is certain',
  (fields, sent, body, idleMs) => {
    const found = readText(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${sent}`);
    expect([found?.answer.status, found?.answer.body, found?.idleMs]).toEqual([200, body, idleMs]);
  },
);

const said = JSON.stringify({ error: { code: 4, text: 'x'.repeat(200) } });
const compressed = (coding: string, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 400 Bad Request\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);

test.each([
  ['gzip', gzipSync(said)],
  ['X-GZIP', gzipSync(said)],
  ['deflate', deflateSync(said)],
  ['br', brotliCompressSync(said)],
  ['identity', Buffer.from(said)],
])('answer: a body in %s is decoded', (coding, bytes) => {
  expect(read([compressed(coding, bytes)])?.answer.body).toBe(said);
});

test('answer: a compressed body that is truncated, corrupt or a bomb is limited, and never an error', () => {
  const random = randomBytes(200_000).toString('hex');
  expect(random.startsWith(read([compressed('gzip', gzipSync(random))])?.answer.body.slice(0, 1_000) ?? '?')).toBe(
    true,
  );
  expect(read([compressed('gzip', Buffer.from('no gzip'))])?.answer.body).toBe('');
  expect(read([compressed('gzip', gzipSync(Buffer.alloc(50_000_000)))])?.answer.body).toBe('');
});

test('answer: a body of up to 1 MiB is kept whole; the start of a longer one is kept, and the rest is not read', () => {
  const long = (bytes: number) => [
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`),
    Buffer.alloc(bytes, 'x'),
  ];
  const kept = read(long(1024 * 1024));
  expect([kept?.answer.body.length, kept?.answer.isCut, kept?.idleMs]).toEqual([1024 * 1024, false, 4_000]);
  const endless = read(long(1024 * 1024 + 1));
  expect([endless?.answer.body.length, endless?.answer.isCut, endless?.idleMs]).toEqual([1024 * 1024, true, 0]);
});

test('answer: a body in many chunks is kept in order', () => {
  const text = randomBytes(50_000).toString('hex');
  const parts = text.split('').map((character) => Buffer.from(`1\r\n${character}\r\n`));
  const kept = read([Buffer.from(chunked), ...parts, Buffer.from('0\r\n\r\n')]);
  expect(kept?.answer.body === text).toBe(true);
  expect(kept?.answer.isCut).toBe(false);
});

test.each([
  ['an invalid chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n'],
  ['lengths that contradict each other', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
  ['a head that is too long', `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(17_000)}\r\n\r\n{}`],
  [
    'a compressed body that is not readable',
    'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}',
  ],
])('answer: %s: the body is marked as cut', (_what, bytes) => {
  expect(read([Buffer.from(bytes)])?.answer.isCut).toBe(true);
});

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
test.each([
  ['chunks in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 'ok'],
  ['a length below 0', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n', ''],
  ['a list with an invalid length', 'HTTP/1.1 200 OK\r\ncontent-length: 5, x\r\n\r\nhello', ''],
  ['a space after a name', 'HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\nhello', ''],
  ['a name with a space', 'HTTP/1.1 200 OK\r\nx bad: 1\r\ncontent-length: 2\r\n\r\nok', 'ok'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nPHP Warning\r\ncontent-length: 2\r\n\r\nok', 'ok'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nx-a: 1\r\n continued\r\ncontent-length: 2\r\n\r\nok', 'ok'],
  ['bare line feeds', 'HTTP/1.1 200 OK\nx-a: 1\ncontent-length: 2\n\nok', ''],
  ['a bare line feed', 'HTTP/1.1 200 OK\r\nx-a: 1\nx-b: 2\r\ncontent-length: 2\r\n\r\nok', 'ok'],
  ['a NUL', 'HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 2\r\n\r\nok', 'ok'],
  ['a head that is too long', `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(17_000)}\r\n\r\n`, ''],
  ['a head without an end', `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(17_000)}`, ''],
  ['a chunk below 0', `${chunked}-1\r\n`, ''],
  ['a chunk of another base', `${chunked}2\r\nok\r\n0x2\r\n`, 'ok'],
  ['a bare line feed after a size', `${chunked}2\nok\r\n`, ''],
  ['a chunk longer than its size', `${chunked}2\r\nokc\r\n`, 'ok'],
  ['trailers without an end', `${chunked}2\r\nok\r\n0\r\n${'a: b\r\n'.repeat(5_000)}`, 'ok'],
])('answer: %s: the status counts, and the connection is not reused', (_fault, text, body) => {
  const found = readText(text);
  expect([found?.answer.status, found?.answer.body, found?.idleMs]).toEqual([200, body, 0]);
  expect(Object.keys(found?.answer.headers ?? {})).not.toContain('');
});

test.each([
  ['hello\r\n\r\n', 'no status'],
  ['HTTP/2 200 OK\r\n\r\n', 'another version'],
  ['HTTP/1.1 20 OK\r\n\r\n', 'a short status'],
  ['HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n', 'another protocol'],
  ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000), 'interim answers without an end'],
])('answer: %o: is malformed (%s)', (text) => {
  expect(() => readText(text)).toThrow(expect.objectContaining({ code: 'ANSWER_MALFORMED' }));
});

test.each([
  '',
  'HTTP/1.1 200',
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n',
])('answer: %o, then the end of the connection: is cut short', (text) => {
  expect(() => readText(text, true)).toThrow(expect.objectContaining({ code: 'ANSWER_CUT_SHORT' }));
});
