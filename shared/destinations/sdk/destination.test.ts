import { expect, test } from 'vitest';
import { FrameError } from '../../contracts/events/frame.ts';
import { httpDestination } from '../http-destination/destination.ts';
import { defineDestination, UnfitEventError } from './destination.ts';
import type { PreparedDestination } from './destination.ts';
import { sampleEvent } from './sample-event.ts';

const of = (own: Partial<PreparedDestination>) =>
  defineDestination({
    ...httpDestination,
    id: 'Strict',
    label: 'Strict',
    settings: {},
    prepare: () => ({ ...httpDestination.prepare(httpDestination.exampleSettings), ...own }),
  }).prepare({});
const events = ['a', 'b'].map((id) => ({ resolved: sampleEvent({ id }) }));

test.each([new UnfitEventError('no address'), new TypeError('no text')])(
  'prepared destination: an event that it cannot read (%s) is accepted, in a group of its own',
  (error) => {
    const fails = (): never => {
      throw error;
    };
    const prepared = of({ accepts: fails, groupOf: fails });
    expect(events.map((event) => prepared.accepts?.(event))).toEqual([true, true]);
    expect(new Set(events.map((event) => prepared.groupOf?.(event))).size).toBe(2);
  },
);

test('prepared destination: a line that cannot be read throws, since the dispatcher keeps it as unreadable', () => {
  const prepared = of({
    groupOf: () => {
      throw new FrameError('broken');
    },
  });
  expect(() => prepared.groupOf?.({ resolved: sampleEvent() })).toThrow(FrameError);
});

test('prepared destination: what it says of an event holds', () => {
  const prepared = of({ accepts: () => false, groupOf: ({ resolved }) => resolved.event.id });
  expect(events.map((event) => [prepared.accepts?.(event), prepared.groupOf?.(event)])).toEqual([
    [false, 'a'],
    [false, 'b'],
  ]);
  expect(of({})).not.toHaveProperty('accepts');
});
