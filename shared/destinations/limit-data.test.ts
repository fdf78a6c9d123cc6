import { expect, test } from 'vitest';
import { compileAllowedData } from '../routing/allowed-data.ts';
import { compileMappings } from '../routing/mapping/apply-mapping.ts';
import { withLimitedData } from './limit-data.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import { UnfitEventError } from './sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';
import { sampleEventFor } from './sdk/sample-event.ts';

const canary = 'canary-3f9a';
const nowMs = 1_700_000_001_000;

function eventFor(kind: (typeof destinationKinds)[number]): OutboundEvent {
  const resolved = sampleEventFor(kind);
  const { event } = resolved;
  const event_properties = {
    ...event.event_properties,
    note: canary,
    deep: { note: canary },
    list: [{ note: canary }],
  };
  return { resolved: { ...resolved, event: { ...event, event_properties } } };
}

function sent(prepared: PreparedDestination, event: OutboundEvent): string {
  try {
    const { url, headers, body, bodyBytes } = prepared.buildRequest([event], nowMs);
    return `${url} ${JSON.stringify(headers)} ${body ?? ''}${bodyBytes === undefined ? '' : Buffer.from(bodyBytes).toString()}`;
  } catch (error) {
    // Without its properties the event lacks a field that the platform requires, so it is not sent.
    if (error instanceof UnfitEventError) return '';
    throw error;
  }
}

test.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))(
  'allow-list: %s gets no property that is not listed, by its default payload or a mapping',
  (_id, kind) => {
    const limit = compileAllowedData([{ name: '*', properties: ['order_id', 'total'] }]);
    if (limit === undefined) throw new Error('nothing is limited');
    const prepared = withLimitedData(kind.prepare(kind.exampleSettings), limit);
    const event = eventFor(kind);
    const mapped = { eventName: 'Named', properties: { ...event.resolved.event.event_properties } };
    for (const one of [event, { ...event, mapped }]) expect(sent(prepared, one)).not.toContain(canary);
  },
);

test('allow-list: templates in settings and the body of an HTTP destination contain only the listed properties', () => {
  const limit = compileAllowedData([{ name: '*', properties: ['total'] }]);
  const http = findDestinationKind('HTTPDestination');
  const custom = findDestinationKind('HTTPCustomRequest');
  if (limit === undefined || http === undefined || custom === undefined) throw new Error('a kind is missing');
  const url = 'https://example.com/hook';
  const own = {
    url,
    method: 'POST',
    body: '{"total":"{{event.event_properties.total}}","note":"{{event.event_properties.note}}"}',
  };
  const event = eventFor(http);
  const resolved = {
    ...event.resolved,
    event: { ...event.resolved.event, event_properties: { total: 4_711, note: canary } },
  };
  const json = JSON.stringify(resolved);
  const bodies = [
    sent(withLimitedData(http.prepare({ httpDestinationUrl: url }), limit), { resolved, json }),
    sent(withLimitedData(custom.prepare(own), limit), { resolved, json }),
  ];
  for (const body of bodies) {
    expect(body).toContain('4711');
    expect(body).not.toContain(canary);
  }
});

test('allow-list: numbers leave by their digits, by the default payload or a mapping', () => {
  const limit = compileAllowedData([{ name: '*', properties: ['order_id', 'deep.id', 'list.id'] }]);
  const http = findDestinationKind('HTTPDestination');
  if (limit === undefined || http === undefined) throw new Error('the kind is missing');
  const prepared = withLimitedData(http.prepare({ httpDestinationUrl: 'https://example.com/hook' }), limit);
  const digits = '23851234567890123';
  const properties = `{"order_id":${digits},"note":${digits}.0,"deep":{"id":${digits},"note":1.0},"list":[{"id":1.0}]}`;
  const { event, visitor } = sampleEventFor(http);
  const json = JSON.stringify({
    event: { ...event, event_properties: 'here', context: { ref: 'there' } },
    visitor,
  })
    .replace('"here"', properties)
    .replace('"there"', digits);
  const resolved = { v: 1 as const, ...(JSON.parse(json) as Pick<OutboundEvent['resolved'], 'event' | 'visitor'>) };
  const mappingOf = (mappings: readonly { readonly property: string; readonly map: string }[]) => {
    const rule = { id: 'm', priority: 1, isEnabled: true, logic: null, action: 'send', others: 'omit' };
    const outcome = compileMappings([{ ...rule, eventName: 'Named', mappings }], undefined)(resolved);
    if (outcome.kind !== 'send') throw new Error('the mapping does not apply');
    return outcome;
  };
  const allowed = `"event_properties":{"order_id":${digits},"deep":{"id":${digits}},"list":[{"id":1.0}]}`;
  const ofNote = mappingOf([
    { property: 'order_id', map: '{{event.event_properties.note}}' },
    { property: 'total', map: '{{event.event_properties.order_id}}' },
  ]);
  for (const [mapped, expected] of [
    [undefined, allowed],
    [mappingOf([]), allowed],
    [ofNote, `"event_properties":{"order_id":${digits}.0}`],
  ] as const) {
    const { body } = prepared.buildRequest([{ resolved, json, mapped }], nowMs);
    expect(body).toContain(expected);
    expect(body).toContain(`"context":{"ref":${digits}}`);
  }
});

const withheldAll = { email: null, first_name: null, external_id: null };

test.each<[string, object, object | undefined]>([
  ['a mapping withholds', {}, { visitor: withheldAll }],
  ['a mapping hashes', {}, { visitor: { email: 'e'.repeat(64), first_name: 'f'.repeat(64), external_id: 'x' } }],
  ['a mapping withholds by properties of the event', {}, withheldAll],
  ['the event withholds', { visitor: withheldAll }, undefined],
  ['the event withholds by its own properties', withheldAll, undefined],
])('allow-list: what %s of the visitor is not replaced by what is known', (_name, own, properties) => {
  const limit = compileAllowedData([{ name: '*', properties: ['order_id', 'value', 'currency'] }]);
  const kind = findDestinationKind('Facebook');
  if (limit === undefined || kind === undefined) throw new Error('the kind is missing');
  const sample = sampleEventFor(kind);
  const event_properties = { ...sample.event.event_properties, ...own };
  const resolved = { ...sample, event: { ...sample.event, event_properties } };
  const mapped = properties && { eventName: 'Purchase', properties: { ...event_properties, ...properties } };
  const body = sent(withLimitedData(kind.prepare(kind.exampleSettings), limit), { resolved, mapped });
  expect(body).toContain('"value":42.5');
  expect(body).not.toMatch(/"(?:em|fn|external_id)":/);
});

test('allow-list: an event that is not mapped is matched by what is known of its visitor, not by its own unlisted address', () => {
  const limit = compileAllowedData([{ name: '*', properties: ['value'] }]);
  const kind = findDestinationKind('Facebook');
  if (limit === undefined || kind === undefined) throw new Error('the kind is missing');
  const sample = sampleEventFor(kind);
  const bodyFor = (own: object): string => {
    const event_properties = { ...sample.event.event_properties, ...own };
    const resolved = { ...sample, event: { ...sample.event, event_properties } };
    return sent(withLimitedData(kind.prepare(kind.exampleSettings), limit), { resolved, mapped: undefined });
  };
  expect(bodyFor({ email: 'friend@example.com' })).toBe(bodyFor({}));
  expect(bodyFor({})).toContain('"em":');
});

test('allow-list: Klaviyo gets no address that a mapping withholds, and one that is listed', () => {
  const kind = findDestinationKind('Klaviyo');
  if (kind === undefined) throw new Error('the kind is missing');
  const resolved = sampleEventFor(kind);
  const saidWith = (properties: readonly string[], email: string | null): string => {
    const limit = compileAllowedData([{ name: '*', properties }]);
    if (limit === undefined) throw new Error('nothing is limited');
    const mapped = { eventName: 'Bought', properties: { value: 1, visitor: { email } } };
    return sent(withLimitedData(kind.prepare(kind.exampleSettings), limit), { resolved, mapped });
  };
  expect(saidWith(['value'], null)).not.toContain('ada@example.com');
  expect(saidWith(['value'], 'other@example.com')).not.toMatch(/(?:ada|other)@example\.com/);
  expect(saidWith(['value', 'visitor.email'], 'other@example.com')).toContain('"email":"other@example.com"');
});

test('allow-list: without an allow-list, most kinds send the property that these tests exclude', () => {
  const sending = destinationKinds.filter((kind) => {
    const event = eventFor(kind);
    const mapped = { eventName: 'Named', properties: event.resolved.event.event_properties };
    return sent(kind.prepare(kind.exampleSettings), { ...event, mapped }).includes(canary);
  });
  expect(sending.length).toBeGreaterThan(10);
});
