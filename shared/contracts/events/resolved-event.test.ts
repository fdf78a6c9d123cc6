import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { asBuffer, FrameError, FrameWriter } from './frame.ts';
import {
  decodeResolved,
  encodeEventParts,
  encodeResolved,
  headOf,
  parseResolved,
  readEventHead,
  resolvedEvents,
  resolvedLine,
} from './resolved-event.ts';
import { eachResolvedLine, findEventsNamed, markNames } from './search-resolved.ts';
import type { EventHead, ResolvedEvent } from './resolved-event.ts';
import { ResolvedFrame } from './resolved-frame.ts';
import { sharedVisitorFrame } from './testing/shared-visitor-frame.ts';
import { anyText } from '../../testing/any-text.ts';

const text = fc.oneof(fc.string(), anyText(), fc.constantFrom('"', '\\', '\ud800', '","event":{"id":"x', 'größe 😀'));
const headIn = (line: string): EventHead | undefined => {
  const bytes = Buffer.from(line);
  return readEventHead(bytes, 0, bytes.length);
};
const event: fc.Arbitrary<ResolvedEvent> = fc
  .record({
    id: text,
    name: text,
    visitorId: text,
    source: text,
    time: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    receivedAt: fc.nat(),
    test: fc.boolean(),
    trace: fc.option(text, { nil: undefined }),
    integrations: fc.option(fc.dictionary(text, fc.boolean(), { noNullPrototype: true }), { nil: undefined }),
    consent: fc.option(fc.dictionary(text, fc.boolean(), { noNullPrototype: true }), { nil: undefined }),
    properties: fc.dictionary(text, fc.jsonValue(), { noNullPrototype: true }),
  })
  .map((made) => {
    const { v, event: sample, visitor } = sampleEvent();
    const { event_properties: _, context, ...head } = sample;
    return {
      v,
      event: {
        ...head,
        id: made.id,
        event: made.name,
        time: made.time,
        received_at: made.receivedAt,
        source_id: made.source,
        test: made.test,
        ...(made.trace === undefined ? {} : { trace: made.trace }),
        ...(made.integrations === undefined ? {} : { integrations: made.integrations }),
        ...(made.consent === undefined ? {} : { consent: made.consent }),
        event_properties: made.properties,
        context,
      },
      visitor: { ...visitor, id: made.visitorId },
    };
  });

function frameOf(events: readonly ResolvedEvent[]): Buffer {
  const writer = new FrameWriter();
  for (const one of events) writer.appendLine(encodeResolved(one));
  return asBuffer(writer.bytes());
}

test('resolved frames: encodeResolved: written events are read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), (events) => {
      // Converted to JSON and back, as the written events were: -0 becomes 0.
      expect(decodeResolved(frameOf(events))).toEqual(JSON.parse(JSON.stringify(events)));
    }),
  );
});

test('resolved frames: encodeResolved: the order of the members given does not matter', () => {
  const { v, event: sample, visitor } = sampleEvent();
  const turned = Object.fromEntries(Object.entries(sample).toReversed()) as ResolvedEvent['event'];
  expect(encodeResolved({ v, event: turned, visitor })).toBe(encodeResolved(sampleEvent()));
});

test('resolved frames: eachResolvedLine: marks as a possible test exactly the lines that contain the text "test":true', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), (events) => {
      const bytes = frameOf(events);
      const found: boolean[] = [];
      eachResolvedLine(bytes, (maybeTest, line) => {
        expect(parseResolved(line().read()).event.id).toBe(events[found.length]?.event.id);
        found.push(maybeTest);
      });
      expect(found).toEqual(events.map((one) => encodeResolved(one).includes('"test":true')));
      events.forEach((one, index) => expect(found[index] === true || !one.event.test).toBe(true));
    }),
  );
});

test('resolved frames: findEventsNamed: finds all events with the names, and none in a frame of events with another name', () => {
  const names = ['Order', 'größe "😀"'];
  const named = fc
    .tuple(event, fc.constantFrom(...names, 'Other'))
    .map(([one, name]): ResolvedEvent => ({ ...one, event: { ...one.event, event: name } }));
  const other = sampleEvent({ event: 'Other' });
  fc.assert(
    fc.property(fc.array(named, { maxLength: 8 }), (events) => {
      const found = findEventsNamed(frameOf(events), markNames(names));
      const ids = (all: readonly Pick<ResolvedEvent, 'event'>[]) =>
        all.filter((one) => names.includes(one.event.event)).map((one) => one.event.id);
      expect(ids(found).toSorted()).toEqual(ids(events).toSorted());
      expect(findEventsNamed(frameOf(events.map(() => other)), markNames(names))).toEqual([]);
    }),
  );
});

test('event head: read: a head equals the head of the parsed event, or is left to the parser', () => {
  fc.assert(
    fc.property(event, (resolved) => {
      const head = headIn(encodeResolved(resolved));
      expect(head ?? headOf(resolved)).toEqual(headOf(resolved));
    }),
  );
});

test('event head: read: a head is read without parsing if its texts need no escape', () => {
  fc.assert(
    fc.property(event, (resolved) => {
      const head = headOf(resolved);
      const texts = [head.id, head.name, head.visitorId, head.sourceId, head.trace ?? ''];
      fc.pre(texts.every((one) => JSON.stringify(one) === `"${one}"`));
      fc.pre(!/[{}]/.test((head.integrations?.slice(1, -1) ?? '') + (head.consent?.slice(1, -1) ?? '')));
      expect(headIn(encodeResolved(resolved))).toEqual(head);
    }),
  );
});

test.each([
  ['an event', sampleEvent()],
  ['a test', sampleEvent({ test: true })],
  ['a name beyond ASCII', sampleEvent({ event: 'größe 😀' })],
  ['one that says what its visitor allows', sampleEvent({ consent: { $gpc: true, advertising: false } })],
  ['one that is not for all destinations', sampleEvent({ integrations: { All: false, 'Customer.io': true } })],
  ['a time with a fraction', sampleEvent({ time: -1.5e-7 })],
])('event head: read: %s is read without parsing', (_, resolved) => {
  expect(headIn(encodeResolved(resolved))).toEqual(headOf(resolved));
});

test('event head: read: the trace is part of the head', () => {
  const { v, event: sample, visitor } = sampleEvent();
  const { event_properties, context, ...head } = sample;
  const traced = { v, event: { ...head, trace: '00-1', event_properties, context }, visitor };
  expect(headIn(encodeResolved(traced))).toMatchObject({ trace: '00-1' });
});

test.each([
  ['a line of another layout', JSON.stringify(sampleEvent())],
  ['a name with an escape', encodeResolved(sampleEvent({ event: 'say "hi"' }))],
  ['another version', encodeResolved(sampleEvent()).replace('"v":1', '"v":2')],
])('event head: read: %s is left to the parser', (_, line) => {
  expect(headIn(line)).toBeUndefined();
});

test('event head: read: nothing of the next line is read as a part of the head', () => {
  fc.assert(
    fc.property(event, event, fc.nat(400), (one, other, kept) => {
      const bytes = Buffer.from(encodeResolved(one));
      const cut = Math.min(kept, bytes.length);
      const frame = Buffer.concat([bytes.subarray(0, cut), Buffer.from(`\n${encodeResolved(other)}\n`)]);
      const head = readEventHead(frame, 0, cut);
      expect(head ?? headOf(one)).toEqual(headOf(one));
      // Reads it twice, because the reader first compares with the texts that it read last.
      expect(readEventHead(frame, cut + 1, frame.length - 1)).toEqual(readEventHead(frame, cut + 1, frame.length - 1));
    }),
  );
});

test('shared visitors: every reader reads a visitor that is in another line like a visitor in the line itself', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (made) => {
      const [first] = made;
      const events = made.map((one) => ({ ...one, visitor: first?.visitor ?? one.visitor }));
      const expected = JSON.parse(JSON.stringify(events)) as ResolvedEvent[];
      const bytes = sharedVisitorFrame(events);
      expect(decodeResolved(bytes)).toEqual(expected);
      expect(resolvedEvents(bytes)).toEqual(expected);
      const read: ResolvedEvent[] = [];
      eachResolvedLine(bytes, (_maybeTest, line) => read.push(parseResolved(line().read())));
      expect(read).toEqual(expected);
      const frame = ResolvedFrame.open(bytes);
      expect(expected.map((_, index) => parseResolved(frame?.lineAt(index) ?? ''))).toEqual(expected);
    }),
  );
});

test('shared visitors: a reference to no visitor is an error, and the other events are still read', () => {
  const { event: parts, visitor } = sampleEvent();
  const json = encodeEventParts(parts);
  const whole = resolvedLine(visitor.id, json, JSON.stringify(visitor));
  for (const said of ['[7,10]', '[0,0]', '[0,3]', '[]', '[-1,4]', '[0,99999999]']) {
    const frame = Buffer.from(`${whole}\n${resolvedLine(visitor.id, json, said)}\n`);
    expect(() => decodeResolved(frame)).toThrow(FrameError);
    expect(resolvedEvents(frame)).toHaveLength(1);
  }
});
