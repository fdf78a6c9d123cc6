import { expect, test } from 'vitest';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { compileCoverage } from './personal-data.ts';

type Row = { readonly property: string; readonly map: string; readonly modification: string | null };

const none = {
  allowedEvents: [],
  consentSettings: [],
  externalAllowedEventData: [],
  dataGovernanceEvents: [],
  dataGovernanceRules: [],
};
const destination = { type: 'HTTPDestination', name: 'Web', status: 'Enabled', settings: {} };
const always = { isEnabled: true, priority: 1, logic: null, action: 'send', eventName: null, others: 'omit' };
const row = (property: string, map: string, modification: string | null = null): Row => ({
  property,
  map,
  modification,
});

const isCovered = (mapping: object, name = 'contact.email', more: object = {}): boolean => {
  const snapshot = {
    ...none,
    destinations: [{ ...destination, id: 'd' }],
    mappings: [{ id: 'm', name: 'm', destinationId: 'd', ...always, ...mapping }],
    ...more,
  };
  const property = `event_properties.${name}`;
  return compileCoverage(snapshot as unknown as Snapshot)({ event: 'Signed up', property });
};

const own = '{{event.event_properties.contact.email}}';

test.each<[string, readonly Row[]]>([
  ['under another name', [row('em', own)]],
  ['in another case', [row('em', own, 'LowerCase')]],
  ['within text', [row('greeting', `Hi {{ $event.event_properties.contact.email }}`)]],
  ['within the object around it', [row('who', '{{event.event_properties.contact}}')]],
  ['within all properties', [row('who', '{{event.event_properties}}')]],
  ['by a later row that overwrites a hash', [row('contact.email', own, 'Hash'), row('contact.email', own)]],
])('personal data: a property that a destination gets %s is not covered', (_case, mappings) => {
  expect(isCovered({ mappings })).toBe(false);
  expect(isCovered({ mappings, others: 'keep' })).toBe(false);
});

test('personal data: a property is not covered by a mapping that sends it in the event name or from a list', () => {
  const mappings = [row('plan', '{{event.event_properties.plan}}')];
  expect(isCovered({ mappings })).toBe(true);
  expect(isCovered({ mappings, eventName: `Lead ${own}` })).toBe(false);
  expect(isCovered({ mappings: [row('em', '{{event.event_properties.people.0.email}}')] }, 'people.email')).toBe(false);
});

test('personal data: a property is covered while it is hashed or omitted at every destination', () => {
  expect(isCovered({ mappings: [row('em', own, 'Hash'), row('x', '{{event.event_properties.contact.emails}}')] })).toBe(
    true,
  );
  expect(isCovered({ mappings: [row('contact.email', own, 'Encrypted')], others: 'keep' })).toBe(true);
  expect(isCovered({ mappings: [row('em', own, 'Hash')], others: 'keep' })).toBe(false);
});

test('personal data: a destination counts even if the rows of those before it fill a privacy report', () => {
  const mappings = Array.from({ length: 500 }, (_, index) => row(`p${index}`, 'text'));
  const dataGovernanceEvents = Array.from({ length: 41 }, (_, index) => ({ name: `Event ${index}`, properties: [] }));
  const destinations = ['d', 'e'].map((id) => ({ ...destination, id }));
  expect(isCovered({ mappings }, 'email', { dataGovernanceEvents })).toBe(true);
  expect(isCovered({ mappings }, 'email', { dataGovernanceEvents, destinations })).toBe(false);
});
