import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { eventJsonOf, readEventHead } from './event-head.ts';
import { encodeResolved, headOf } from './resolved-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\ud800', '","event":{"id":"x', 'größe 😀'),
);
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
        event_properties: made.properties,
        context,
      },
      visitor: { ...visitor, id: made.visitorId },
    };
  });

describe('event head', () => {
  it('read: says the same as the whole event, or nothing', () => {
    fc.assert(
      fc.property(event, (resolved) => {
        const head = readEventHead(encodeResolved(resolved));
        expect(head ?? headOf(resolved)).toEqual(headOf(resolved));
      }),
    );
  });

  it.each([
    ['an event', sampleEvent()],
    ['a test', sampleEvent({ test: true })],
    ['a name beyond ASCII', sampleEvent({ event: 'größe 😀' })],
    ['a time with a fraction', sampleEvent({ time: -1.5e-7 })],
  ])('read: %s is read without parsing', (_, resolved) => {
    expect(readEventHead(encodeResolved(resolved))).toEqual(headOf(resolved));
  });

  it('read: the trace is part of it', () => {
    const { v, event: sample, visitor } = sampleEvent();
    const { event_properties, context, ...head } = sample;
    const traced = { v, event: { ...head, trace: '00-1', event_properties, context }, visitor };
    expect(readEventHead(encodeResolved(traced))).toMatchObject({ trace: '00-1' });
  });

  it.each([
    ['a line of another layout', JSON.stringify(sampleEvent())],
    ['a name with an escape', encodeResolved(sampleEvent({ event: 'say "hi"' }))],
    ['another version', encodeResolved(sampleEvent()).replace('"v":1', '"v":2')],
  ])('read: %s is left to the parser', (_, line) => {
    expect(readEventHead(line)).toBeUndefined();
  });

  it('eventJsonOf: is the event and its visitor', () => {
    fc.assert(
      fc.property(event, (resolved) => {
        const line = encodeResolved(resolved);
        const head = readEventHead(line);
        if (head === undefined) return;
        const { event: said, visitor } = resolved;
        expect(JSON.parse(eventJsonOf(line, head))).toEqual(JSON.parse(JSON.stringify({ event: said, visitor })));
      }),
    );
  });
});
