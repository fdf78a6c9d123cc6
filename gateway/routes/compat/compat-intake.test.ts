import { expect, test } from 'vitest';
import { decodeEnvelopes, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { Frame } from '../../commit/frame.ts';
import type { GroupCommit } from '../../commit/group-commit.ts';
import { ConcurrencyLimit } from '../../../shared/limits/index.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import { Intake } from '../../ingest/intake.ts';
import { noEvents } from '../../ingest/published-sources.ts';
import type { PublishedSource } from '../../ingest/published-sources.ts';
import { CompatIntake } from './compat-intake.ts';
import { posthogCapture } from './posthog.ts';
import { specBatch } from './spec-message.ts';
import type { Dialect } from './translation.ts';

const token = 'src_live_0123456789abcdef';
const atMs = Date.parse('2026-11-22T12:00:00Z');
const timeWindow = { pastMsMax: 604_800_000, aheadMsMax: 300_000 };

/** Accepts a request. Returns the envelopes for the log, the statuses of the answers, and the source's tally. */
function accept(dialect: Dialect, body: object, scoresBots = false) {
  const prefix = envelopePrefix({ account: 'account', source: 'source', test: false });
  const state = { partitionSeed: 1, excludesContext: false, scoresBots, isFromVisitors: false, tally: noEvents() };
  const source = { ...state, envelopePrefix: prefix } as unknown as PublishedSource;
  const admission = {
    sourceOf: (given: unknown) => (given === token ? source : undefined),
    admit: () => new Admitted(source, atMs),
    keptAddress: () => '203.0.113.7',
  } as unknown as Admission;
  const frame = new Frame();
  const commit = {
    hasRoom: () => true,
    append: (_: number, ...given: Parameters<Frame['add']>) => frame.add(...given),
  } as unknown as GroupCommit;
  const answers: Reply[] = [];
  const head = { authorization: '', contentEncoding: '', userAgent: 'a "library"/1', traceparent: '' };
  const exchange = { head, bodyBytes: 0, send: (reply: Reply) => answers.push(reply) } as unknown as Exchange;
  const bytesMax = 1_000_000;
  const intake = new CompatIntake(admission, new Intake(admission, commit, 4), {
    bodyBytesMax: bytesMax,
    rowsMax: 100,
    eventBytesMax: bytesMax,
    limits: { depthMax: 64, keysMax: 10_000 },
    timeWindow,
    inflate: { bytesMax, ratioMax: 10, inFlight: new ConcurrencyLimit({ max: 1, ofOwnerMax: 1 }) },
  });
  intake.accept(exchange, Buffer.from(JSON.stringify(body)), '', dialect);
  const envelopes = decodeEnvelopes(frame.writer.bytes());
  frame.decide('stored');
  return { envelopes, codes: answers.map(({ code }) => code), tally: source.tally };
}

const track = (id: string, more: object = {}) => ({
  type: 'track',
  messageId: id,
  userId: 'ada',
  event: 'Order Completed',
  timestamp: '2026-11-22T11:59:00.000Z',
  properties: { total: 42.5, note: `said ${token} aloud` },
  context: { library: { name: 'l' } },
  ...more,
});

test('compat intake: events copied from bytes and events that were parsed reach the log in order, with the same heads', () => {
  // A message with an escape in a key has to be parsed.
  const batch = [
    track('m-1'),
    track('m-2'),
    track('m-3', { context: { 'a\n': 1 } }),
    track('m-4'),
    { type: 'nothing' },
  ];
  const { envelopes, codes, tally } = accept(specBatch, { writeKey: token, batch });
  expect(codes).toEqual([200]);
  expect(tally).toMatchObject({ stored: 4, invalid: 1 });
  const head = { v: 1, kind: 'track', account: 'account', source: 'source', at: atMs };
  const own = { ...head, ip: '203.0.113.7', ua: 'a "library"/1' };
  expect(envelopes.map((envelope) => ({ ...envelope, body: undefined }))).toEqual(
    ['m-1', 'm-2', 'm-3', 'm-4'].map((id) => ({ ...own, id })),
  );
  const event = { event: 'Order Completed', externalId: 'ada', time: atMs - 60_000 };
  const eventProperties = { total: 42.5, note: `said ${'*'.repeat(token.length)} aloud` };
  for (const { body } of envelopes) expect(body).toMatchObject({ ...event, eventProperties });
  expect(envelopes.map(({ body }) => body['defaultProperties'])).toEqual([
    { library_name: 'l' },
    { library_name: 'l' },
    { 'a\n': 1 },
    { library_name: 'l' },
  ]);
});

test('compat intake: the bot score of an event is in its head', () => {
  const bot = { context: { userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' } };
  const { envelopes } = accept(specBatch, { writeKey: token, batch: [track('m-1'), track('m-2', bot)] }, true);
  expect(envelopes.map(({ id, bot: score }) => [id, score])).toEqual([
    ['m-1', undefined],
    ['m-2', 100],
  ]);
});

test('compat intake: a large request is stored completely, even if its events become much longer', () => {
  const properties = { $current_url: 'https://shop.test/a', note: 'x'.repeat(5_000) };
  const one = { event: 'E', distinct_id: 'ada', properties };
  const batch = Array.from({ length: 90 }, (_, index) => ({ ...one, uuid: `u-${index}` }));
  const { envelopes, codes } = accept(posthogCapture, { api_key: token, batch });
  expect(codes).toEqual([200]);
  expect(envelopes.map(({ id }) => id)).toEqual(batch.map(({ uuid }) => uuid));
  for (const { body } of envelopes) {
    expect(body).toMatchObject({
      eventProperties: { note: properties.note },
      defaultProperties: { host: 'shop.test' },
    });
  }
});
