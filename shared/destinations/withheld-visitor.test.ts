import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { destinationKinds } from './registry.ts';
import { UnfitEventError } from './sdk/destination.ts';
import type { DestinationKind, OutboundEvent } from './sdk/destination.ts';
import { requestsInTurn } from './sdk/request-content.ts';
import { sampleEventFor } from './sdk/sample-event.ts';
import { SettingError } from './sdk/settings.ts';
import { sampleVisit } from './testing/sample-visit.ts';

const nowMs = 1_700_000_001_000;

/** The visitor's data, by the name of the property, in each form in which a kind may send it. */
const data: Readonly<Record<string, readonly [text: string, ...others: string[]]>> = {
  external_id: ['canary-customer-7'],
  email: ['canary@mail.example.net'],
  phone_number: ['+491601239876', '491601239876', '1601239876'],
  first_name: ['Canaryfirst'],
  last_name: ['Canarylast'],
  date_of_birth: ['1987-03-09', '19870309', '03/09/1987'],
  city: ['Canarytown'],
  zip: ['98761'],
  company_name: ['Canary Works'],
  job_title: ['Canary Keeper'],
};
const visitorData = Object.fromEntries(Object.entries(data).map(([name, [text]]) => [name, text]));
const overrides = [null, 'a'.repeat(64)].map((value) =>
  Object.fromEntries(Object.keys(data).map((name) => [name, value])),
);

test.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))(
  'withheld: %s gets nothing of a visitor that a mapping withholds or replaces with hashes',
  (_id, kind) => {
    for (const name of ['Order Completed', 'Signed Up', 'Page Viewed', '$identify', '$group']) {
      const event = eventFor(kind, name);
      for (const visitor of overrides) {
        const properties = { ...event.resolved.event.event_properties, visitor };
        const withheld = { ...event, mapped: { eventName: name, properties } };
        for (const settings of settingsOf(kind)) expect(dataIn(kind, settings, withheld)).toEqual([]);
      }
    }
  },
);

test('withheld: without such a mapping, most of the visitor is sent to some kind', () => {
  const sent = destinationKinds.flatMap((kind) =>
    dataIn(kind, kind.exampleSettings, eventFor(kind, 'Order Completed')),
  );
  expect([...new Set(sent)].toSorted()).toEqual(Object.keys(data).toSorted());
  expect(sent.length).toBeGreaterThan(100);
});

function eventFor(kind: DestinationKind, event: string): OutboundEvent {
  const visit = sampleVisit(nowMs).resolved;
  const { event_properties: own } = sampleEventFor(kind).event;
  const event_properties = { ...visit.event.event_properties, ...own };
  const visitor = { id: visit.visitor.id, ...visitorData, custom_properties: {} };
  return { resolved: { ...visit, event: { ...visit.event, event, event_properties }, visitor } };
}

/** The example settings, alone and with each choice of a setting. */
function settingsOf({ descriptor, exampleSettings }: DestinationKind): readonly DestinationKind['exampleSettings'][] {
  const choices = descriptor.settings.flatMap((setting): readonly DestinationKind['exampleSettings'][] => {
    if (setting.type === 'Select') return setting.options.map(({ value }) => ({ [setting.key]: value }));
    return setting.type === 'Switch' ? [{ [setting.key]: true }] : [];
  });
  return [{}, ...choices].map((choice) => ({ ...exampleSettings, ...choice }));
}

/** The names of the visitor's data in the requests for an event, as text, hashed, or in Base64. */
function dataIn(kind: DestinationKind, settings: DestinationKind['exampleSettings'], event: OutboundEvent): string[] {
  try {
    const prepared = kind.prepare(settings);
    if (prepared.accepts?.(event) === false) return [];
    const requests = requestsInTurn(prepared.buildRequest([event], nowMs));
    const texts = requests.flatMap(({ url, headers, body = '' }) => [
      decoded(url),
      JSON.stringify(headers),
      body,
      decoded(body),
      ...(body.match(/[A-Za-z0-9+/]{80,}={0,2}/g) ?? []).map((text) => Buffer.from(text, 'base64').toString()),
    ]);
    const sent = texts.join('\n').toLowerCase();
    return Object.entries(data).flatMap(([name, forms]) =>
      forms.flatMap(formsOf).some((form) => sent.includes(form)) ? [name] : [],
    );
  } catch (error) {
    if (error instanceof UnfitEventError || error instanceof SettingError) return [];
    throw error;
  }
}

function formsOf(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const hashes = ['sha256', 'sha1', 'md5'].map((algorithm) => createHash(algorithm).update(lower).digest('hex'));
  return [lower, ...hashes];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
