import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFuzzEnv } from '../testing/fuzz-env.ts';
import { classifyAnswer } from './classify-answer.ts';
import { createEgressRules } from './egress-rules.ts';
import { createGuardedLookup } from './guarded-lookup.ts';
import { answerBodyBytesMax } from './outbound.ts';
import { createSender } from './sender.ts';
import type { Sender } from './sender.ts';

const { FUZZ_CASES: cases, FUZZ_SEED: seed } = readFuzzEnv(1_500);

const mebibyte = 1024 ** 2;
const growthBytesMax = 96 * mebibyte;
const limits = { connectionsMax: 16, connectTimeoutMs: 2_000, headersTimeoutMs: 400, totalTimeoutMs: 800 };
const bomb = gzipSync(Buffer.alloc(20 * mebibyte));

/** What a destination writes to its socket, mostly a well-formed answer with one or two oddities. */
type Answer = { readonly parts: readonly Buffer[]; readonly ends: boolean };

const text = fc.oneof(
  fc.constantFrom(
    '{"success":true}',
    '{"error":{"code":4}}',
    '[]',
    'null',
    '<html>',
    '{"a":1e999}',
    `{"a":"${'x'.repeat(200_000)}"}`,
  ),
  fc.json({ maxDepth: 3 }),
  fc.string(),
);
const oddStatus = fc.constantFrom(
  '204',
  '301',
  '400',
  '401',
  '404',
  '429',
  '500',
  '503',
  '599',
  '100',
  '103',
  '000',
  '999',
  '20',
  '2000',
  'OK',
  '-1',
  '',
);
/** The usual value three times out of four, so that most answers have only one or two oddities. */
const mostly = <Value>(usual: Value, odd: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 3 }, { arbitrary: odd, weight: 1 });
const oddHeaders = fc.oneof(
  fc.constant(''),
  fc.constantFrom(
    'retry-after: 1\r\n',
    'retry-after: -1\r\n',
    'retry-after: 1e9\r\n',
    'retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n',
    'x: \u0000\r\n',
    'no colon\r\n',
    ' folded\r\n',
    ': empty\r\n',
    'connection: upgrade\r\n',
    'set-cookie: a=b\r\nset-cookie: c=d\r\n',
  ),
  fc.nat(3_000).map((times) => 'x-flood: y\r\n'.repeat(times)),
  fc.nat(200_000).map((length) => `x-long: ${'y'.repeat(length)}\r\n`),
);
const oddCoding = fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'gzip, gzip', 'nonsense', 'cut gzip', 'bomb');
const oddFraming = fc.constantFrom(
  'chunked',
  'none',
  'too long',
  'too short',
  'twice',
  'both',
  'negative',
  'huge',
  'bad chunk',
  'endless chunk',
);

function encode(body: Buffer, how: string): Buffer {
  if (how === 'gzip') return gzipSync(body);
  if (how === 'cut gzip') return gzipSync(body).subarray(0, 12);
  if (how === 'bomb') return bomb;
  return how === 'deflate' ? deflateSync(body) : body;
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

function frame(body: Buffer, how: string): readonly [head: string, body: Buffer] {
  const length = `content-length: ${body.length}\r\n`;
  switch (how) {
    case 'length':
      return [length, body];
    case 'chunked':
      return ['transfer-encoding: chunked\r\n', Buffer.concat([chunk(body), Buffer.from('0\r\n\r\n')])];
    case 'too long':
      return [`content-length: ${body.length + 10}\r\n`, body];
    case 'too short':
      return [`content-length: ${Math.max(0, body.length - 1)}\r\n`, body];
    case 'twice':
      return [length + length, body];
    case 'both':
      return [`${length}transfer-encoding: chunked\r\n`, chunk(body)];
    case 'negative':
      return ['content-length: -1\r\n', body];
    case 'huge':
      return ['content-length: 99999999999999999999\r\n', body];
    case 'bad chunk':
      return ['transfer-encoding: chunked\r\n', Buffer.from('zz\r\nabc\r\n')];
    case 'endless chunk':
      return ['transfer-encoding: chunked\r\n', Buffer.concat([Buffer.from('ffffffff\r\n'), body])];
    default:
      return ['', body];
  }
}

const answer: fc.Arbitrary<Answer> = fc
  .record({
    version: mostly('HTTP/1.1', fc.constantFrom('HTTP/1.0', 'HTTP/2', 'ICY')),
    status: mostly('200', oddStatus),
    headers: mostly('', oddHeaders),
    text,
    coding: mostly('', oddCoding),
    framing: mostly('length', oddFraming),
    cut: mostly<number | null>(null, fc.nat(400)),
    pieces: fc.integer({ min: 1, max: 6 }),
    flipped: mostly<readonly [number, number] | null>(null, fc.tuple(fc.nat(), fc.nat(255))),
    ends: mostly(true, fc.constant(false)),
  })
  .map((one) => {
    const named = one.coding.replace('cut ', '').replace('bomb', 'gzip');
    const [length, body] = frame(encode(Buffer.from(one.text), one.coding), one.framing);
    const head = `${one.version} ${one.status} x\r\n${one.headers}${named === '' ? '' : `content-encoding: ${named}\r\n`}${length}\r\n`;
    const whole = Buffer.concat([Buffer.from(head, 'latin1'), body]);
    const bytes = one.cut === null ? whole : whole.subarray(0, one.cut);
    if (one.flipped !== null && bytes.length > 0) bytes[one.flipped[0] % bytes.length] = one.flipped[1];
    const size = Math.max(1, Math.ceil(bytes.length / one.pieces));
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    return { parts, ends: one.ends };
  });

let server: Server;
let sender: Sender;
let origin: string;
/** The answers to further requests, by path. */
const answers = new Map<string, Answer>();
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const found = answers.get(/^POST (\/\d+) /.exec(data.toString('latin1'))?.[1] ?? '');
      if (found === undefined) return;
      for (const part of found.parts) socket.write(part);
      if (found.ends) socket.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rules = createEgressRules(['127.0.0.0/8']);
  sender = createSender({ rules, lookupFor: createGuardedLookup(rules), limits });
});
afterAll(async () => {
  await sender.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const outcomes: ReadonlySet<string> = new Set(['delivered', 'retry', 'reject']);

test('hostile answers: whatever a destination answers, a request ends in time with a known outcome, in bounded memory', async () => {
  const startedBytes = process.memoryUsage().rss;
  const kinds = new Map<string, number>();
  const failures: string[] = [];
  const casesAtOnce = 500;
  for (let from = 0; from < cases; from += casesAtOnce) {
    const made = fc.sample(answer, { seed: seed + from, numRuns: Math.min(casesAtOnce, cases - from) });
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let at = next++; at < made.length; at = next++) {
        const path = `/${from + at}`;
        const given = made[at];
        if (given === undefined) continue;
        answers.set(path, given);
        const result = await sender.send({ method: 'POST', url: `${origin}${path}`, headers: {}, body: '{}' });
        answers.delete(path);
        kinds.set(result.kind, (kinds.get(result.kind) ?? 0) + 1);
        if (result.kind !== 'answered') continue;
        const outcome = classifyAnswer(result.answer, Date.now());
        const isKnown = outcomes.has(outcome.kind);
        const bytes = Buffer.byteLength(result.answer.body);
        const afterMs = outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0;
        // Each invalid byte, such as one of a truncated character, becomes a replacement character of three bytes.
        if (!isKnown || bytes > answerBodyBytesMax * 3 || !(afterMs >= 0)) {
          failures.push(`case ${from + at}: ${outcome.kind}, ${bytes} bytes, retry after ${afterMs} ms`);
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
  }
  const grownBytes = process.memoryUsage().rss - startedBytes;
  console.info(
    `${cases} answers of seed ${seed}:`,
    Object.fromEntries(kinds),
    `${Math.round(grownBytes / mebibyte)} MiB grown`,
  );
  expect(failures).toEqual([]);
  expect(kinds.get('answered')).toBeGreaterThan(cases / 10);
  expect(grownBytes).toBeLessThan(growthBytesMax + (cases / 1_000) * mebibyte);
}, 1_800_000);
