import { expect, test } from 'vitest';
import { destinationKinds } from '../destinations/registry.ts';
import { destinationTypes } from './destination-types.ts';
import { unavailableDestinationTypes, whyUnavailable } from './unavailable-destination-types.ts';

test('unavailable types: every known kind is either offered or listed once with a reason', () => {
  const offered = destinationKinds.map(({ descriptor }) => descriptor.id);
  const refused = unavailableDestinationTypes.map(({ id }) => id);
  expect([...offered, ...refused].toSorted()).toEqual(destinationTypes.toSorted());
  for (const { reason } of unavailableDestinationTypes) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
});

test('unavailable types: the reason for a browser tag names the kind that takes events from servers', () => {
  expect(whyUnavailable('BingAdsWeb')).toContain('Microsoft Advertising Conversions API takes events');
});

test('unavailable types: an offered kind and an unknown name have no reason', () => {
  expect([whyUnavailable('HTTPDestination'), whyUnavailable('Nobody')]).toEqual([undefined, undefined]);
});
