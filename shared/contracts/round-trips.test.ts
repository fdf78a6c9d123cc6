import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../destinations/sdk/sample-event.ts';
import { decodeAccountConfig, encodeAccountConfig } from './config/account-config.ts';
import { readLiveConfig } from '../collections/live-config.ts';
import { collectionNames, collectionOf, collections } from '../collections/registry.ts';
import type { AccountConfig } from './config/account-config.ts';
import type { Snapshot } from '../collections/registry.ts';
import { testLiveConfig } from '../testing/test-account-config.ts';
import { decodeBackpressure, encodeBackpressure } from './backpressure.ts';
import { decodeWithdrawalNotice, encodeWithdrawalNotice } from './withdrawal-notice.ts';
import { decodeErasureNotice, encodeErasureNotice, hashedVisitor } from './erasure-notice.ts';
import { decodeDeadLetter, encodeDeadLetter, encodeUnreadable } from './events/dead-letter.ts';
import { FrameWriter } from './events/frame.ts';
import { copied } from './events/testing/copied-record.ts';
import { decodeRetryFrame, encodeRetryRecord } from './events/retry-record.ts';
import { decodeHealthRecord, encodeHealthRecord } from './health-record.ts';
import { createSecretBox } from './config/secrets.ts';
import { decodeOAuthEntry, encodeOAuthEntry } from './config/oauth-entry.ts';
import { decodeReport, encodeReport } from './process-report.ts';
import { decodeReplay, encodeReplay } from './replay-job.ts';
import type { ReplayJob } from './replay-job.ts';
import { decodeLagRecord, encodeLagRecord } from './resolve-lag.ts';
import { decodeDispatched, decodeSourceRecord, encodeDispatched, encodeSourceRecord } from './source-activity.ts';
import { decodeWorkReport, encodeWorkReport } from './work-report.ts';

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

test('round trip: a notice of withdrawn consents', () => {
  const change = fc.record(
    { visitors: fc.array(text), words: fc.dictionary(text, fc.boolean()), atMs: fc.nat() },
    plain,
  );
  const notice = fc.record({ v: fc.constant(1 as const), changes: fc.array(change) }, plain);
  fc.assert(
    fc.property(notice, (one) => {
      expect(decodeWithdrawalNotice(encodeWithdrawalNotice(one))).toEqual(one);
    }),
  );
  expect(decodeWithdrawalNotice(Buffer.from('{"v":2,"changes":[]}'))).toBeUndefined();
});

test('round trip: a notice of an erasure', () => {
  const notice = fc.record(
    { v: fc.constant(1 as const), id: text, atMs: fc.nat(), isAhead: fc.boolean(), visitors: fc.array(text) },
    { ...plain, requiredKeys: ['v', 'id', 'atMs', 'visitors'] },
  );
  fc.assert(
    fc.property(notice, (one) => {
      expect(decodeErasureNotice(encodeErasureNotice(one))).toEqual(one);
    }),
  );
  expect(decodeErasureNotice(Buffer.from('{"v":2,"id":"a","atMs":1,"visitors":[]}'))).toBeUndefined();
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const hashes = [
    hashedVisitor(key, 'a', 'ann@example.com'),
    hashedVisitor(key, 'b', 'ann@example.com'),
    hashedVisitor(other, 'a', 'ann@example.com'),
  ];
  expect(new Set(hashes).size).toBe(3);
  for (const hash of hashes) expect(hash).toMatch(/^[A-Za-z0-9_-]{22}$/);
});

test('round trip: a frame of the retry log, of references and of records that have the event', () => {
  const about = fc.record(
    {
      attempts: fc.nat(),
      firstAttemptAt: fc.nat(),
      lastAttemptAt: fc.nat(),
      notBefore: fc.nat(),
      heldAt: fc.integer({ min: 1 }),
      reason: text,
      request,
    },
    { ...plain, requiredKeys: ['attempts', 'firstAttemptAt', 'lastAttemptAt', 'notBefore', 'reason'] },
  );
  const origin = fc.record({ seq: fc.nat(), line: fc.nat() }, plain);
  const pointing = fc.record({ visitorId: text, eventId: text, receivedAt: fc.nat(), bytes: fc.nat(), origin }, plain);
  const record = fc.oneof(
    fc.tuple(about, pointing).map(([one, other]) => ({ ...one, ...other })),
    fc.tuple(about, event).map(([one, other]) => ({ ...one, ...copied(other) })),
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

const stepCounts = fc.record(
  {
    since: fc.nat(),
    rows: fc.array(text),
    columns: fc.array(text),
    fine: fc.array(fc.array(fc.nat(), { minLength: 1 })),
    hours: fc.array(fc.array(fc.nat(), { minLength: 1 })),
    hoursUntil: fc.nat(),
  },
  plain,
);

test('round trip: a health record', () => {
  const record = fc.record(
    {
      v: fc.constant(1 as const),
      minutes: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat())),
      hours: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat())),
      hoursUntil: fc.nat(),
      lastDispatchedAt: fc.option(fc.nat()),
      sending: fc.record(
        {
          breaker: fc.constantFrom('closed' as const, 'open' as const, 'probing' as const),
          concurrency: fc.nat(),
          answerMs: fc.record({ half: fc.nat(), most: fc.nat() }, plain),
        },
        { ...plain, requiredKeys: ['breaker', 'concurrency'] },
      ),
      place,
      delivery: fc.record(
        { names: stepCounts, sources: stepCounts, answers: stepCounts },
        { ...plain, requiredKeys: [] },
      ),
    },
    { ...plain, requiredKeys: ['v', 'minutes', 'lastDispatchedAt'] },
  );
  fc.assert(
    fc.property(record, (one) => {
      expect(decodeHealthRecord(encodeHealthRecord(one))).toEqual(one);
    }),
  );
});

test('health record: its counts are read even if another part has an unknown format', () => {
  const written = { v: 1, minutes: [[1, 2, 0, 0, 0]], lastDispatchedAt: 7 };
  expect(decodeHealthRecord(Buffer.from(JSON.stringify({ ...written, place: 'x' })))).toEqual(written);
  expect(decodeHealthRecord(Buffer.from(JSON.stringify({ ...written, delivery: { names: 1 } })))).toEqual(written);
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
      version: text,
      revision: fc.nat(),
      revisionAt: text,
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

test('round trip: the record of when a source was used and what its events became', () => {
  const steps = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat()));
  const lastInvalid = fc.option(fc.record({ at: fc.nat(), problem: fc.string() }, plain));
  const record = fc.record({ lastTriggeredAt: fc.option(fc.nat()), minutes: steps, hours: steps, lastInvalid }, plain);
  fc.assert(
    fc.property(record, fc.option(fc.nat()), (one, atMs) => {
      expect(decodeSourceRecord(encodeSourceRecord(one))).toEqual(one);
      expect(decodeDispatched(encodeDispatched(atMs))).toBe(atMs);
    }),
  );
});

test('round trip: the record of how long events waited for the resolver', () => {
  const steps = fc.array(fc.tuple(fc.nat(), fc.nat()));
  fc.assert(
    fc.property(fc.record({ minutes: steps, hours: steps }, plain), (one) => {
      expect(decodeLagRecord(encodeLagRecord(one))).toEqual(one);
    }),
  );
});

test('round trip: the report of the threads and actors of a pipeline', () => {
  const thread = fc.record(
    {
      thread: fc.nat(),
      isReady: fc.boolean(),
      silentMs: fc.nat(),
      heapUsedBytes: fc.nat(),
      utilization: fc.constantFrom(0, 0.25, 1),
      delayP99Ms: fc.nat(),
      isLogConnected: fc.boolean(),
    },
    plain,
  );
  const actor = fc.record(
    { kind: text, key: text, thread: fc.nat(), state: text, failuresInARow: fc.nat() },
    { ...plain, requiredKeys: ['kind', 'key', 'state', 'failuresInARow'] },
  );
  const report = fc.record(
    { v: fc.constant(1 as const), threads: fc.array(thread), actors: fc.array(actor), actorsMore: fc.nat() },
    plain,
  );
  fc.assert(
    fc.property(report, (one) => {
      expect(decodeWorkReport(encodeWorkReport(one))).toEqual(one);
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

/**
 * Values that a schema allows; with `isOther` also words and values beyond the limits, as another build may allow them.
 */
function valueOf(schema: object, isOther: boolean): fc.Arbitrary<unknown> {
  const node = schema as Readonly<Record<string, unknown>>;
  const { type, anyOf, properties, items, patternProperties } = node;
  const inner = (part: unknown): fc.Arbitrary<unknown> => valueOf(part as object, isOther);
  if (Array.isArray(node['enum'])) return isOther ? text : fc.constantFrom(...(node['enum'] as unknown[]));
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(inner));
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'number' || type === 'integer')
    return isOther ? fc.double({ noNaN: true, noDefaultInfinity: true }) : fc.nat(100);
  if (type === 'string') return isOther ? text : fc.stringMatching(/^[a-z]{1,20}$/);
  if (type === 'array') return fc.array(inner(items), { maxLength: 3 });
  if (patternProperties !== undefined) return object;
  if (properties === undefined) return fc.jsonValue();
  const own = Object.entries(properties as object).map(([name, part]) => [name, inner(part)] as const);
  const record = fc.record(Object.fromEntries(own), plain);
  return isOther ? fc.tuple(object, record).map(([more, known]) => ({ ...more, ...known })) : record;
}

const tolerant = collections.filter(({ reading }) => reading === 'tolerant');

test('live configuration: an entity of another build survives unknown words, exceeded limits and extra or missing fields', () => {
  expect(tolerant.length).toBeGreaterThan(10);
  for (const { name, body, defaults } of tolerant) {
    const published = fc
      .tuple(valueOf(body, true), fc.subarray(Object.keys(defaults)), text)
      .map(([made, left, id]) => ({
        ...Object.fromEntries(Object.entries(made as object).filter(([field]) => !left.includes(field))),
        id,
      }));
    fc.assert(
      fc.property(published, (entity) => {
        const { unreadable, collections: read } = testLiveConfig({ [name]: [entity] });
        expect(unreadable).toEqual([]);
        expect(read[name]).toEqual(testLiveConfig({ [name]: [{ ...defaults, ...entity }] }).collections[name]);
        expect(read[name]).toMatchObject([JSON.parse(JSON.stringify(entity)) as object]);
      }),
      { numRuns: 50 },
    );
  }
});

test('live configuration: a collection missing from a document is empty, and a collection unknown to this build is ignored', () => {
  const older = {
    ...decodeAccountConfig(encodeAccountConfig(fc.sample(config, 1)[0] as AccountConfig)),
    collections: {},
  };
  const read = readLiveConfig({ ...older, collections: { newer: [{ id: 'a' }] } });
  expect(read.unreadable).toEqual([]);
  expect(Object.keys(read.collections)).toEqual([...collectionNames]);
  for (const name of collectionNames) expect(read.collections[name]).toEqual([]);
});

test.each(collections.map((collection) => [collection.name, collection] as const))(
  'live configuration: of %s an entity with a field of another type is left out, named and not quoted',
  (name, { body, harmless }) => {
    for (const field of Object.keys(body.properties)) {
      const fitting = fc.sample(valueOf(body, false), 1)[0] as object;
      // No field of any collection is a list of lists, so this value has the wrong type for each of them.
      const broken = { ...fitting, id: 'entity', [field]: [[7]] };
      const { unreadable, collections: read } = testLiveConfig({ [name]: [broken] });
      const isDefaulted = harmless.includes(field);
      expect(unreadable.filter((one) => one.field === field)).toMatchObject([
        { collection: name, id: 'entity', field },
      ]);
      if (collectionOf(name).reading === 'tolerant') {
        expect({ field, read: read[name].length }).toEqual({ field, read: isDefaulted ? 1 : 0 });
      }
    }
  },
);

test('live configuration: an entity of a collection that is read exactly must fit the schema of this build, or is not used', () => {
  const variant = { experimentId: 'e', name: 'v', isControl: true, weight: null, redirect: null, properties: {} };
  const read = testLiveConfig({
    experimentVariants: [
      { ...variant, id: 'a' },
      { ...variant, id: 'b', weight: 101 },
    ],
  });
  expect(read.collections.experimentVariants.map(({ id }) => id)).toEqual(['a']);
  expect(read.unreadable).toMatchObject([
    { collection: 'experimentVariants', id: 'b', field: 'weight', isDefaulted: false },
  ]);
});

test.each(['', 'no JSON', 'null', '[]', '{"format":2}', '{}', '{"format":1}'])(
  'configuration: %j cannot be read',
  (bytes) => {
    expect(() => decodeAccountConfig(Buffer.from(bytes))).toThrow(/format|JSON|collections/);
  },
);

test.each(['', 'no JSON', 'null', '[]', '7', '{}', '{"v":2}'])('entries: %j cannot be read', (written) => {
  const bytes = Buffer.from(written);
  const decoders = [
    decodeDeadLetter,
    decodeHealthRecord,
    decodeReport,
    decodeReplay,
    decodeSourceRecord,
    decodeLagRecord,
    decodeWorkReport,
  ];
  for (const decode of decoders) {
    expect(decode(bytes)).toBeUndefined();
  }
});

test('round trip: the entry of an access token, sealed and bound to its place', () => {
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

test('round trip: the report of accounts whose events wait for too long', () => {
  const ms = fc.nat();
  const report = fc.record(
    {
      v: fc.constant(1 as const),
      accounts: fc.array(fc.tuple(text, ms)),
      resolve: fc.record({ ageMs: ms, ageMaxMs: ms }, plain),
    },
    { ...plain, requiredKeys: ['v', 'accounts'] },
  );
  fc.assert(
    fc.property(report, (one) => {
      expect(decodeBackpressure(encodeBackpressure(one))).toEqual(one);
    }),
  );
  expect(decodeBackpressure(Buffer.from('{"v":2}'))).toBeUndefined();
});
