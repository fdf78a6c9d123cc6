import { BodyScan, PlainEvent, scanBody } from '../../gateway/payload/scan-body.ts';
import { trackPayload } from '../../gateway/payload/payloads.ts';
import {
  decodeEnvelopes,
  envelopeHead,
  envelopeLine,
  envelopePrefix,
  readEnvelope,
} from '../../shared/contracts/events/envelope.ts';
import { compressFrame, openFrame } from '../../shared/contracts/events/compressed-frame.ts';
import { decodeResolved, encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import { ResolvedFrame } from '../../shared/contracts/events/resolved-frame.ts';
import { FrameWriter, eachLine } from '../../shared/contracts/events/frame.ts';
import { allocationBucket, variantBucket } from '../../shared/experiments/bucketing.ts';
import { compileMappings } from '../../shared/routing/mapping/apply-mapping.ts';
import { compilePredicate } from '../../shared/routing/predicate/predicate.ts';
import { RateLimit } from '../../shared/limits/index.ts';
import { parseBatch } from '../../gateway/routes/batch/batch-rows.ts';
import { readPlainTrack } from '../../gateway/payload/read-plain-track.ts';
import { DeliveryTables } from '../../pipeline/workers/dispatch/health/delivery-tables.ts';
import { HealthWindow } from '../../pipeline/workers/dispatch/health/health-window.ts';
import { IdentityFigures } from '../../pipeline/workers/resolve/identity-figures.ts';
import { createPlanFigures } from '../../pipeline/workers/resolve/plan-figures.ts';
import { admitEvent } from '../../pipeline/workers/resolve/admit-event.ts';
import { PersonalData, samplePersonalData } from '../../pipeline/workers/resolve/personal-data.ts';
import { createDeduplication } from '../../pipeline/workers/resolve/deduplication.ts';
import { encodeEvent } from '../../pipeline/workers/resolve/encode-event.ts';
import { readEvent } from '../../pipeline/workers/resolve/read-event.ts';
import { readTouch } from '../../pipeline/workers/resolve/read-touch.ts';
import { openResolvePlan } from '../../pipeline/workers/resolve/resolve-plan.ts';
import { createResolverCounts } from '../../pipeline/workers/resolve/resolver-context.ts';
import type { WaitingEvent } from '../../pipeline/workers/resolve/waiting-events.ts';
import { eventScope, hashEvent } from '../../shared/contracts/events/event-hash.ts';
import { ByteWriter } from '../../shared/json/byte-writer.ts';
import { benchAccountId, sourceIdOf, visitorIdOf } from '../config/ids.ts';
import { resolvedEvent } from '../fill/fill-events.ts';
import { batchBody, trackBody } from '../load/bodies.ts';
import { RequestTemplate } from '../load/slots.ts';
import { compatTasks } from './compat-tasks.ts';
import type { MicroTask } from './micro-task.ts';

const frameEvents = 256;
const batchRows = 1_000;
const nowMs = 1_760_000_000_000;
const windowMs = 24 * 3_600_000;

/** Number of different inputs of each kind; with a single input, the compiler could compute the result only once. */
const varieties = 64;

/** Returns a function that cycles through `varieties` prepared values. */
function inTurn<Value>(make: (index: number) => Value): () => Value {
  const values = Array.from({ length: varieties }, (_, index) => make(index));
  let next = 0;
  return () => {
    next = (next + 1) % varieties;
    return values[next] ?? make(next);
  };
}

/** The tasks, in the order in which an event passes their code. */
export function microTasks(): readonly MicroTask[] {
  return [
    ...validationTasks(),
    ...compatTasks(),
    ...codecTasks(),
    ...admitTasks(),
    ...samplingTasks(),
    ...windowTasks(),
    ...ruleTasks(),
  ];
}

function filled(body: string, index = 1): Buffer {
  const template = new RequestTemplate(Buffer.from(body));
  // The time must not end in a zero: JavaScript writes no trailing zero, so the time would be kept as text.
  template.fill(index, 20_000, nowMs + index + 0.125);
  return template.bytes;
}

function validationTasks(): MicroTask[] {
  const track = inTurn((index) => filled(trackBody('src_live_bench'), index));
  const trackText = inTurn((index) => filled(trackBody('src_live_bench'), index).toString('utf8'));
  const trackValue = inTurn((): unknown => JSON.parse(trackText()));
  const batch = filled(batchBody('src_live_bench', batchRows));
  const scan = new BodyScan();
  const plain = new PlainEvent();
  const limit = new RateLimit({ perS: 10_000, burst: 20_000 }, () => nowMs);
  let atMs = nowMs;
  return [
    {
      name: 'admission: rate limit of a source',
      events: 1,
      run() {
        atMs += 0.2;
        return limit.take('key', 1, atMs);
      },
    },
    {
      name: 'validation: read a plain track',
      events: 1,
      run: () => readPlainTrack(plain, scan.facts, track(), { depthMax: 64, keysMax: 10_000 }),
    },
    { name: 'validation: scan a track', events: 1, run: () => scanBody(scan, track()) },
    { name: 'validation: parse a track', events: 1, run: () => JSON.parse(trackText()) as unknown },
    { name: 'validation: check a track', events: 1, run: () => trackPayload.Check(trackValue()) },
    {
      name: `validation: read ${batchRows} plain rows`,
      events: batchRows,
      run() {
        scanBody(scan, batch, batchRows);
        return parseBatch(scan, batch);
      },
    },
  ];
}

function codecTasks(): MicroTask[] {
  const prefix = envelopePrefix({ account: benchAccountId, source: sourceIdOf(benchAccountId), test: false });
  const body = filled(trackBody(''));
  const writer = new FrameWriter(1024 ** 2);
  const write = (): FrameWriter => {
    writer.reset();
    for (let index = 0; index < frameEvents; index += 1) {
      const head = envelopeHead(prefix, {
        kind: 'track',
        id: `event-${index}`,
        at: nowMs,
        ip: '127.0.0.1',
        ua: 'bench',
      });
      writer.appendEnvelope(head, body);
    }
    return writer;
  };
  const envelopes = write().bytes();
  const resolved = Array.from({ length: frameEvents }, (_, index) =>
    resolvedEvent(benchAccountId, index, visitorIdOf(index), nowMs),
  );
  const resolvedBytes = Buffer.from(resolved.map((event) => `${encodeResolved(event)}\n`).join(''));
  const compressed = compressFrame(resolvedBytes);
  const name = (what: string): string => `codec: ${what} a frame of ${frameEvents}`;
  return [
    { name: name('write'), events: frameEvents, run: write },
    { name: name('read'), events: frameEvents, run: () => decodeEnvelopes(envelopes) },
    { name: name('encode resolved'), events: frameEvents, run: () => resolved.map(encodeResolved) },
    { name: name('decode resolved'), events: frameEvents, run: () => decodeResolved(resolvedBytes) },
    { name: name('compress'), events: frameEvents, run: () => compressFrame(resolvedBytes) },
    { name: name('open'), events: frameEvents, run: () => openFrame(compressed) },
    {
      name: name('read the heads of'),
      events: frameEvents,
      run: () => {
        const frame = new ResolvedFrame(resolvedBytes);
        return Array.from({ length: frame.length }, (_, index) => frame.headAt(index));
      },
    },
  ];
}

/** A resolver's work on a plain event before its visitor is known, and the same work with parsing the event. */
function admitTasks(): MicroTask[] {
  const prefix = envelopePrefix({ account: benchAccountId, source: sourceIdOf(benchAccountId), test: false });
  const line = (index: number): string => {
    const head = envelopeHead(prefix, { kind: 'track', id: `event-${index}`, at: nowMs, ip: '127.0.0.1', ua: 'bench' });
    return `${envelopeLine(head, filled(trackBody('')).toString())}\n`;
  };
  const data = Buffer.from(Array.from({ length: frameEvents }, (_, index) => line(index)).join(''));
  const frame = { seq: 1, data, storedAtMs: nowMs };
  const accepted: WaitingEvent[] = [];
  eachLine(data, (start, end) => {
    const origin = { frame, line: accepted.length };
    accepted.push({ origin, accountId: benchAccountId, bytes: data, start, end });
  });
  const writer = new ByteWriter(1024 ** 2);
  // Every event counts as new in every run.
  const deduplication = { ...createDeduplication({ windowMs, idsMax: 1_000 }), add: () => true };
  const plan = createPlanFigures();
  const identity = new IdentityFigures();
  const context = { deduplication, plans: () => undefined, counts: createResolverCounts(), plan, identity, writer };
  const rules = openResolvePlan.sourceRules('');
  return [
    {
      name: `resolve: admit a frame of ${frameEvents} plain events`,
      events: frameEvents,
      run() {
        writer.reset();
        for (const event of accepted) admitEvent(context, event);
        return writer.length;
      },
    },
    {
      name: `resolve: parse a frame of ${frameEvents} and write it again`,
      events: frameEvents,
      run() {
        writer.reset();
        for (const { bytes, start, end } of accepted) {
          const envelope = readEnvelope(bytes.toString('utf8', start, end));
          const { touch } = readTouch(envelope, 'server');
          hashEvent(eventScope(envelope), envelope.id, touch.claim);
          encodeEvent(writer, envelope, readEvent(envelope, rules), undefined);
        }
        return writer.length;
      },
    },
  ];
}

/**
 * Cost of the search for personal data: for a sampled event, and for an event that exceeds the budget of its second.
 */
function samplingTasks(): MicroTask[] {
  const event = inTurn((index) => {
    const { event: own, visitor } = resolvedEvent(benchAccountId, index, visitorIdOf(index), nowMs + index);
    const bytes = Buffer.from(JSON.stringify(own));
    const claim = { userId: visitor.id, externalIds: [], emails: [], anonymousId: undefined };
    const touch = { accountId: benchAccountId, claim, receivedAtMs: nowMs, given: [], sentWith: 'server' } as const;
    return { touch, json: { bytes, start: 0, end: bytes.length } };
  });
  class Unbounded extends PersonalData {
    override takes(): boolean {
      return true;
    }
  }
  const sampling = (personalData: PersonalData) => (): number => {
    const { touch, json } = event();
    samplePersonalData(personalData, touch, json);
    return personalData.skipped;
  };
  return [
    { name: 'resolve: look at an event for personal data', events: 1, run: sampling(new Unbounded()) },
    { name: 'resolve: pass an event beyond those looked at', events: 1, run: sampling(new PersonalData()) },
  ];
}

const weekHours = 7 * 24;

function windowTasks(): MicroTask[] {
  const full = createDeduplication({ windowMs, idsMax: 200_000 });
  let index = 0;
  const addNext = (): boolean => {
    index += 1;
    return full.add(hashEvent(benchAccountId, `event-${index}`), nowMs + index);
  };
  while (full.size < 190_000) addNext();
  const known = hashEvent(benchAccountId, `event-${index}`);
  const health = new HealthWindow(weekHours);
  const dayMinutes = 24 * 60;
  for (let minute = 0; minute < dayMinutes; minute += 1) health.record('succeeded', 1, nowMs + minute * 60_000);
  const dayEndMs = nowMs + (dayMinutes - 1) * 60_000;
  const delivery = new DeliveryTables(weekHours, nowMs);
  // Makes new strings each time, like those read from a frame.
  const names = Array.from({ length: 10 }, (_, name) => `Product Viewed ${name}`).join(',');
  let heads: { name: string; sourceId: string; receivedAtMs: number }[] = [];
  const nextHead = () => {
    if (heads.length === 0) {
      const texts = Buffer.from(names).toString('latin1').split(',');
      heads = texts.map((name) => ({ name, sourceId: sourceIdOf(benchAccountId), receivedAtMs: atMs }));
    }
    return heads.pop();
  };
  let atMs = nowMs;
  const move = (): void => {
    const head = nextHead();
    if (head !== undefined) delivery.moved(head, 'log', 'delivered', atMs);
  };
  for (; atMs < dayEndMs; atMs += 6_000) move();
  return [
    { name: 'window: a new id in a full table', events: 1, run: addNext },
    { name: 'window: an id that is known', events: 1, run: () => full.add(known, nowMs + index) },
    { name: 'window: health, count one outcome', events: 1, run: () => health.record('succeeded', 1, dayEndMs) },
    { name: 'window: delivery, make the head of an event', events: 1, run: nextHead },
    { name: 'window: delivery, the same and count its move', events: 1, run: move },
    {
      name: 'window: delivery, what a write holds',
      events: 1,
      run: () => (delivery.isAllDue(dayEndMs) ? delivery.markStored() : delivery.toCounts('changed')),
    },
    { name: 'window: health, sums of 24 hours', events: 1, run: () => health.sums(dayEndMs) },
  ];
}

function ruleTasks(): MicroTask[] {
  const subject = inTurn((index) => resolvedEvent(benchAccountId, index, visitorIdOf(index), nowMs + index));
  const visitor = inTurn((index) => `customer-${index}`);
  const condition = (property: string, operator: string, value: unknown) => ({
    condition: { property, operator, value },
  });
  const predicate = compilePredicate({
    AND: [
      condition('event.event', 'Is', 'Product Viewed'),
      condition('event.event_properties.price', 'IsGreaterThan', 100),
      {
        OR: [
          condition('event.event_properties.currency', 'IsIn', ['EUR', 'USD']),
          condition('visitor.email', 'IsNull', null),
        ],
      },
    ],
  });
  const mappings = compileMappings(
    [
      {
        id: 'rule',
        priority: 1,
        isEnabled: true,
        logic: condition('event.event', 'Is', 'Product Viewed'),
        others: 'omit',
        action: 'send',
        eventName: 'view_item',
        mappings: [
          { property: 'items[0].item_id', map: '{{event.event_properties.product_id}}', modification: 'None' },
          { property: 'value', map: '{{event.event_properties.price}}', modification: 'None' },
          { property: 'currency', map: '{{event.event_properties.currency}}', modification: 'LowerCase' },
          { property: 'user_id', map: '{{visitor.external_id}}', modification: 'Hash' },
          { property: 'page', map: '{{event.context.current_url}}', modification: 'DomainOnly' },
        ],
      },
    ],
    undefined,
  );
  const experimentId = '0190a7c0-6e2a-7b60-8f5e-1f5d3c2b1a09';
  return [
    { name: 'rules: a predicate of four conditions', events: 1, run: () => predicate(subject()) },
    { name: 'rules: a mapping of five properties', events: 1, run: () => mappings(subject()) },
    {
      name: 'bucketing: allocation and variant',
      events: 1,
      run() {
        const visitorId = visitor();
        return allocationBucket(experimentId, visitorId) + variantBucket(experimentId, visitorId);
      },
    },
  ];
}
