import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../destinations/sdk/sample-event.ts';
import { collectionNames, decodeAccountConfig, encodeAccountConfig } from './config/account-config.ts';
import type { AccountConfig, Snapshot } from './config/account-config.ts';
import { decodeDeadLetter, encodeDeadLetter, encodeUnreadable } from './events/dead-letter.ts';
import { FrameWriter } from './events/frame.ts';
import { decodeRetryFrame, encodeRetryRecord } from './events/retry-record.ts';
import { decodeHealthRecord, encodeHealthRecord } from './health-record.ts';
import { createSecretBox } from './config/secrets.ts';
import { decodeOAuthEntry, encodeOAuthEntry } from './config/oauth-entry.ts';
import { decodeReport, encodeReport } from './process-report.ts';
import { decodeReplay, encodeReplay } from './replay-job.ts';
import type { ReplayJob } from './replay-job.ts';
import { decodeDispatched, decodeTriggered, encodeDispatched, encodeTriggered } from './source-activity.ts';

const text = fc.string({ unit: 'grapheme' });
const object = fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.nat()), { noNullPrototype: true });
const plain = { noNullPrototype: true } as const;
const event = fc.record({ id: text, event: text, event_properties: object }, plain).map((made) => sampleEvent(made));
const request = fc.record(
  { method: text, host: text, status: fc.nat() },
  { ...plain, requiredKeys: ['method', 'host'] },
);

test('round trip: a dead letter', () => {
  const letter = fc.record(
    {
      v: fc.constant(1 as const),
      destinationId: text,
      reason: text,
      attempts: fc.nat(),
      firstAttemptAt: fc.nat(),
      lastAttemptAt: fc.nat(),
      event,
      request,
    },
    {
      ...plain,
      requiredKeys: ['v', 'destinationId', 'reason', 'attempts', 'firstAttemptAt', 'lastAttemptAt', 'event'],
    },
  );
  fc.assert(
    fc.property(letter, (one) => {
      expect(decodeDeadLetter(encodeDeadLetter(one))).toEqual(one);
    }),
  );
  expect(decodeDeadLetter(encodeUnreadable('d', 'no JSON', Buffer.from('{')))).toBeUndefined();
});

test('round trip: a frame of the retry log', () => {
  const record = fc.record(
    {
      v: fc.constant(1 as const),
      attempts: fc.nat(),
      firstAttemptAt: fc.nat(),
      lastAttemptAt: fc.nat(),
      notBefore: fc.nat(),
      heldAt: fc.nat(),
      reason: text,
      event,
      request,
    },
    { ...plain, requiredKeys: ['v', 'attempts', 'firstAttemptAt', 'lastAttemptAt', 'notBefore', 'reason', 'event'] },
  );
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), (records) => {
      const writer = new FrameWriter();
      for (const one of records) writer.appendLine(encodeRetryRecord(one));
      expect(decodeRetryFrame(writer.bytes())).toEqual(records);
    }),
  );
});

const place = fc.record(
  {
    upTo: fc.nat(),
    above: fc.array(fc.nat()),
    storedUntilMs: fc.nat(),
    parts: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.base64String())),
  },
  plain,
);

test('round trip: a health record', () => {
  const record = fc.record(
    {
      v: fc.constant(1 as const),
      minutes: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat())),
      lastDispatchedAt: fc.option(fc.nat()),
      place,
    },
    { ...plain, requiredKeys: ['v', 'minutes', 'lastDispatchedAt'] },
  );
  fc.assert(
    fc.property(record, (one) => {
      expect(decodeHealthRecord(encodeHealthRecord(one))).toEqual(one);
    }),
  );
});

test('health record: counts still count where the place is of another build', () => {
  const written = { v: 1, minutes: [[1, 2, 0, 0, 0]], lastDispatchedAt: 7 };
  expect(decodeHealthRecord(Buffer.from(JSON.stringify({ ...written, place: 'x' })))).toEqual(written);
});

test('round trip: the report of a process', () => {
  const holder = fc.record(
    { nonce: text, pid: fc.nat(), machine: text, startedAt: text },
    { ...plain, requiredKeys: ['nonce', 'pid'] },
  );
  const report = fc.record(
    {
      kind: fc.constantFrom('gateway' as const, 'pipeline' as const),
      instanceId: text,
      startedAt: text,
      revision: fc.nat(),
      peers: fc.array(text),
      isLeaving: fc.boolean(),
      holder,
    },
    { ...plain, requiredKeys: ['kind', 'instanceId', 'startedAt', 'revision'] },
  );
  fc.assert(
    fc.property(report, (one) => {
      expect(decodeReport(encodeReport(one))).toEqual(one);
    }),
  );
});

test('round trip: a replay', () => {
  const job: fc.Arbitrary<ReplayJob> = fc.record(
    {
      v: fc.constant(1 as const),
      id: text,
      accountId: text,
      destinationId: text,
      request: fc.record({ what: fc.constant('log' as const), fromMs: fc.nat(), toMs: fc.nat() }, plain),
      createdAtMs: fc.nat(),
      updatedAtMs: fc.nat(),
      state: fc.constantFrom('waiting' as const, 'running' as const, 'cancelling' as const, 'done' as const),
      scanned: fc.nat(),
      queued: fc.nat(),
    },
    plain,
  );
  fc.assert(
    fc.property(job, (one) => {
      expect(decodeReplay(encodeReplay(one))).toEqual(one);
    }),
  );
});

test('round trip: when a source was used', () => {
  fc.assert(
    fc.property(fc.option(fc.nat()), (atMs) => {
      expect(decodeTriggered(encodeTriggered(atMs))).toBe(atMs);
      expect(decodeDispatched(encodeDispatched(atMs))).toBe(atMs);
    }),
  );
});

const entity = fc.tuple(text, object).map(([id, body]) => ({ ...body, id }));
const snapshot = fc.record(
  Object.fromEntries(collectionNames.map((name) => [name, fc.array(entity, { maxLength: 2 })])),
  plain,
) as fc.Arbitrary<Snapshot>;
const config: fc.Arbitrary<AccountConfig> = fc.record(
  {
    format: fc.constant(1 as const),
    accountId: text,
    versionId: text,
    versionNumber: fc.nat(),
    publishedAt: text,
    sourceKeys: fc.array(fc.record({ keyHash: text, sourceId: text, test: fc.boolean() }, plain)),
    collections: snapshot,
  },
  plain,
);

test('round trip: a configuration', () => {
  fc.assert(
    fc.property(config, (one) => {
      expect(decodeAccountConfig(encodeAccountConfig(one))).toEqual(one);
    }),
  );
});

test.each(['', 'no JSON', 'null', '[]', '{"format":2}', '{}'])('configuration: %j is none of this build', (bytes) => {
  expect(() => decodeAccountConfig(Buffer.from(bytes))).toThrow(/format|JSON/);
});

test.each(['', 'no JSON', 'null', '[]', '7', '{}', '{"v":2}'])('entries: %j is none of this build', (written) => {
  const bytes = Buffer.from(written);
  for (const decode of [decodeDeadLetter, decodeHealthRecord, decodeReport, decodeReplay, decodeTriggered]) {
    expect(decode(bytes)).toBeUndefined();
  }
});

test('round trip: what is known of an access token, sealed and bound to its place', () => {
  const box = createSecretBox(Buffer.alloc(32, 7).toString('base64'));
  const entry = fc.record(
    {
      v: fc.constant(1 as const),
      token: fc.record({ accessToken: text, expiresAtMs: fc.nat() }, plain),
      refreshToken: text,
      askedUntilMs: fc.nat(),
      refusal: fc.record({ reason: text, untilMs: fc.nat() }, plain),
    },
    { ...plain, requiredKeys: ['v'] },
  );
  fc.assert(
    fc.property(entry, (one) => {
      const bytes = encodeOAuthEntry(one, box, 'token.1');
      expect(decodeOAuthEntry(bytes, box, 'token.1')).toEqual(one);
      expect(decodeOAuthEntry(bytes, box, 'token.2')).toBeUndefined();
    }),
  );
});
