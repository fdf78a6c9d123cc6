import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testLiveConfig } from '../testing/test-account-config.ts';
import type { TestCollections } from '../testing/test-account-config.ts';
import { sampleEvent } from '../destinations/sdk/sample-event.ts';
import { headOf } from '../contracts/events/resolved-event.ts';
import { compileDispatchPlan, compileGlobalDispatch } from './dispatch-plan.ts';
import type { GlobalDispatchCenter } from './dispatch-plan.ts';
import { modifications } from './modifications/modifications.ts';
import { publishedDestinations } from './published-destinations.ts';
import { PlanError } from './values/plan-error.ts';
import type { Subject } from './values/property-path.ts';
import type { GoogleConsentType } from '../contracts/events/consent-words.ts';
import type { JsonObject } from '../runtime/json.ts';
import { unknownRegion } from './consent/region.ts';

const destination = { id: 'd1', type: 'HTTPDestination', status: 'Enabled', settings: {} };

const kind = { namesElsewhere: [], consentTypes: [] };

function decide(collections: TestCollections, event: Parameters<typeof sampleEvent>[0] = {}) {
  const config = testLiveConfig({ destinations: [destination], ...collections });
  const [published] = publishedDestinations(config);
  if (published === undefined) throw new Error('no destination');
  const subject = sampleEvent(event);
  return compileDispatchPlan(config, published, kind).decide(headOf(subject), subject);
}

/** The plan of a destination that passes on these consent types, and the sample event. */
function planFor(consentTypes: readonly GoogleConsentType[], collections: TestCollections) {
  const config = testLiveConfig({ destinations: [destination], ...collections });
  const [published] = publishedDestinations(config);
  if (published === undefined) throw new Error('no destination');
  const subject = sampleEvent();
  return {
    plan: compileDispatchPlan(config, published, { namesElsewhere: [], consentTypes }),
    subject,
    head: headOf(subject),
  };
}

const purposeOf = (name: string, defaultState: string, own: JsonObject = {}) => ({
  id: name,
  name,
  isEnabled: true,
  defaultState,
  regions: null,
  destinationIds: [],
  signals: { googleConsentMode: ['ad_user_data', 'ad_personalization'] },
  ...own,
});

describe('consent mode', () => {
  const types = ['ad_user_data', 'ad_personalization'] as const;
  const mixed = {
    consentSettings: [
      purposeOf('ads', 'Granted'),
      purposeOf('personal', 'Denied', { signals: { googleConsentMode: ['ad_personalization', 'ad_storage'] } }),
      purposeOf('off', 'Denied', { isEnabled: false }),
    ],
  };

  test('consent mode: purposes decide the types that a destination passes on, even if the destination serves no purpose', () => {
    const { plan, head, subject } = planFor(types, mixed);
    expect(plan.decide(head, subject)).toMatchObject({
      kind: 'send',
      consentMode: { ad_user_data: 'GRANTED', ad_personalization: 'DENIED' },
    });
    expect(decide(mixed)).toEqual({ kind: 'send' });
    expect(planFor(['ad_storage'], mixed).plan.decide(head, subject)).toMatchObject({
      consentMode: { ad_storage: 'DENIED' },
    });
  });

  test('consent mode: a decision no longer holds once the visitor withdraws a purpose of a type', () => {
    const { plan, head, subject } = planFor(types, mixed);
    const decision = plan.decide(head, subject);
    const consentMode = decision.kind === 'send' ? decision.consentMode : undefined;
    const now = (words: Readonly<Record<string, { isDenial: boolean; atMs: number }>>) => ({
      lastWords: () => new Map(Object.entries(words)),
      onUnreadable: () => undefined,
      regionOf: () => unknownRegion,
    });
    const decided = { ...subject, isLimited: false, consentMode };
    expect(plan.isConsented(head, decided, now({}))).toBe(true);
    expect(plan.isConsented(head, decided, now({ other: { isDenial: true, atMs: 1 } }))).toBe(true);
    expect(plan.isConsented(head, decided, now({ ads: { isDenial: true, atMs: 1 } }))).toBe(false);
  });

  test('consent mode: an unreadable purpose stops only destinations that pass on one of its types', () => {
    const { destinationIds, ...unreadable } = purposeOf('ads', 'Granted', { regions: 7 });
    const consentSettings = [{ ...unreadable, destinationIds }];
    expect(() => planFor(types, { consentSettings })).toThrow(
      'consentSettings ads: regions cannot be read by this build',
    );
    expect(() => planFor(['ad_storage'], { consentSettings })).not.toThrow();
  });
});

describe('dispatch plan', () => {
  test('send: an event that no rule stops is sent', () => {
    expect(decide({})).toEqual({ kind: 'send' });
  });

  test('test: an event of a test key goes nowhere', () => {
    expect(decide({}, { test: true })).toEqual({ kind: 'skip', rule: 'test' });
  });

  test('status: a disabled destination gets nothing', () => {
    const disabled = { ...destination, status: 'Disabled' };
    expect(decide({ destinations: [disabled] })).toEqual({ kind: 'skip', rule: 'disabled' });
  });

  test.each([
    [['sample-source'], { kind: 'send' }],
    [['other'], { kind: 'skip', rule: 'source' }],
    [[], { kind: 'send' }],
    [null, { kind: 'send' }],
  ])('limitedToSourceIds %o: %o', (limitedToSourceIds, expected) => {
    expect(decide({ destinations: [{ ...destination, limitedToSourceIds }] })).toEqual(expected);
  });

  test.each([
    ['Order Completed', ['d1'], { kind: 'send' }],
    ['order COMPLETED', ['d1'], { kind: 'send' }],
    ['Order Completed', ['d2'], { kind: 'skip', rule: 'not_allowed' }],
    ['Order Completed', null, { kind: 'skip', rule: 'not_allowed' }],
    ['Something Else', ['d1'], { kind: 'skip', rule: 'not_allowed' }],
  ])('allowedEvents %s for %o: %o', (name, destinationIds, expected) => {
    expect(decide({ allowedEvents: [{ id: 'a', name, destinationIds }] })).toEqual(expected);
  });

  test('allowedEvents: Sluice’s own events pass', () => {
    const allowedEvents = [{ id: 'a', name: 'x', destinationIds: [] }];
    expect(decide({ allowedEvents }, { event: '$identify' })).toEqual({ kind: 'send' });
  });

  const isOrder = { condition: { property: 'event.event', operator: 'Is', value: 'Order Completed' } };
  const center = (destinationIds: string[]) => ({
    id: 'c',
    isEnabled: true,
    categories: [{ name: 'legal', priority: 1, destinationIds, logic: isOrder }],
  });
  const mapping = (own: object) => ({
    id: 'm',
    destinationId: 'd1',
    priority: 1,
    isEnabled: true,
    logic: isOrder,
    ...own,
  });

  test('globalDispatchCenters: a category whose logic holds stops the event', () => {
    expect(decide({ globalDispatchCenters: [center(['d1'])] })).toEqual({ kind: 'global-stop', category: 'legal' });
    expect(decide({ globalDispatchCenters: [center(['d2'])] })).toEqual({ kind: 'send' });
    expect(decide({ globalDispatchCenters: [center(['d1'])] }, { event: 'Other' })).toEqual({ kind: 'send' });
  });

  test('mappings: a stop rule stops the event, and a send rule sets its name and properties', () => {
    expect(decide({ mappings: [mapping({ action: 'stop' })] })).toEqual({ kind: 'stop', ruleId: 'm' });
    const rows = [{ property: 'total', map: '{{event.event_properties.value}}', modification: 'None' }];
    expect(decide({ mappings: [mapping({ action: 'send', eventName: 'buy', mappings: rows })] })).toMatchObject({
      kind: 'send',
      ruleId: 'm',
      mapped: { eventName: 'buy', properties: { total: 42.5 } },
    });
    expect(decide({ mappings: [mapping({ action: 'stop', destinationId: 'd2' })] })).toEqual({ kind: 'send' });
  });

  test('mappings: each modification that hashes puts the hashing salt of the destination before the value', () => {
    const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
    const md5 = createHash('md5').update('pepper Ada@Example.com ').digest('hex');
    // A value, and the result that a platform with the salt computes from it.
    const rows: readonly (readonly [modification: string, value: string, sent: string])[] = [
      ['Hash', ' Ada@Example.com ', sha256('pepper Ada@Example.com ')],
      ['HashMD5', ' Ada@Example.com ', md5],
      ['HashedNormalized', ' Ada@Example.com ', sha256('pepperada@example.com')],
      ['HashedNormalizedNoSpecialChars', 'New York', sha256('peppernewyork')],
      ['HashedPhone', '+1 (415) 555-2671', sha256('pepper14155552671')],
      ['HashedCountry', 'Germany', sha256('pepperde')],
      ['HashedState', 'California', sha256('pepperca')],
      ['HashedZip', '94107-1234', sha256('pepper94107')],
      ['HashedGender', 'Female', sha256('pepperf')],
      ['HashedDateOfBirth', '1997-02-16', sha256('pepper19970216')],
      [
        'FakeDomain',
        'https://shop.example.org/a',
        `https://site-${sha256('peppershop.example.org').slice(0, 12)}.example.com`,
      ],
    ];
    const properties = Object.fromEntries(rows.map(([modification, value]) => [modification, value]));
    const mapped = rows.map(([modification]) => {
      return { property: modification, map: `{{event.event_properties.${modification}}}`, modification };
    });
    const salted = { ...destination, hashingSalt: 'pepper' };
    const mappings = [mapping({ action: 'send', mappings: mapped })];
    expect(decide({ destinations: [salted], mappings }, { event_properties: properties })).toMatchObject({
      mapped: { properties: Object.fromEntries(rows.map(([modification, , sent]) => [modification, sent])) },
    });
    const others = Object.keys(modifications).filter(
      (name) => /^Hash|^Fake/.test(name) && !/^FakeIP|RealPath/.test(name),
    );
    expect(rows.map(([modification]) => modification)).toEqual(others);
  });

  test('order: if several rules stop an event, the first of the chain is named', () => {
    const all = {
      globalDispatchCenters: [center(['d1'])],
      mappings: [mapping({ action: 'stop' })],
      destinations: [{ ...destination, status: 'Disabled', limitedToSourceIds: ['other'] }],
      allowedEvents: [{ id: 'a', name: 'x', destinationIds: [] }],
    };
    expect(decide(all, { test: true })).toMatchObject({ rule: 'test' });
    expect(decide(all)).toMatchObject({ rule: 'not_allowed' });
    expect(decide({ ...all, allowedEvents: [] })).toMatchObject({ rule: 'disabled' });
    const limited = [{ ...destination, limitedToSourceIds: ['other'] }];
    expect(decide({ ...all, allowedEvents: [], destinations: limited })).toMatchObject({ rule: 'source' });
    expect(decide({ ...all, allowedEvents: [], destinations: [destination] })).toMatchObject({ kind: 'global-stop' });
  });

  test('compile: a rule that cannot be understood is refused, not left out', () => {
    const unknown = { condition: { property: 'event.event', operator: 'Like', value: 'x' } };
    expect(() => decide({ mappings: [mapping({ action: 'stop', logic: unknown })] })).toThrow('mapping m');
    expect(() => decide({ mappings: [mapping({ action: 'stop', logic: { condition: {} } })] })).toThrow('mappings m');
  });

  const row = { property: 'a', map: 'b', modification: 'None' };

  test.each([
    ['priority', { priority: '1' }],
    ['eventName', { eventName: 5 }],
    ['mappings', { mappings: 'all' }],
    ['mappings', { mappings: [row, null] }],
    ['mappings', { mappings: [{ ...row, property: 5 }] }],
    ['mappings', { mappings: [{ ...row, map: 5 }] }],
    ['destinationId', { destinationId: 5 }],
  ])('mappings: a rule whose %s cannot be read stops every event to its destination', (field, own) => {
    expect(() => decide({ mappings: [mapping({ action: 'send', ...own })] })).toThrow(
      `mappings m: ${field} cannot be read by this build`,
    );
    const elsewhere = mapping({ action: 'send', ...own, isEnabled: false });
    expect(decide({ mappings: [elsewhere] })).toEqual({ kind: 'send' });
  });

  test('mappings: an unreadable rule of another destination has no effect', () => {
    expect(decide({ mappings: [mapping({ destinationId: 'd2', priority: '1' })] })).toEqual({ kind: 'send' });
  });

  test.each([
    ['categories', { categories: null }],
    ['categories', { categories: ['x'] }],
    ['categories', { categories: [{ name: 'a', priority: null, destinationIds: [], logic: null }] }],
    ['isEnabled', { isEnabled: 'yes' }],
  ])('globalDispatchCenters: a center whose %s cannot be read stops all events to all destinations', (field, own) => {
    expect(() => decide({ globalDispatchCenters: [{ ...center(['d2']), ...own }] })).toThrow(
      `globalDispatchCenters c: ${field} cannot be read by this build`,
    );
  });

  test('destinations: an unreadable destination is listed, and is sent nothing', () => {
    const config = testLiveConfig({ destinations: [{ ...destination, settings: 'text' }] });
    const [published] = publishedDestinations(config);
    expect(published).toMatchObject({ id: 'd1', unreadable: 'settings' });
    if (published === undefined) throw new Error('no destination');
    expect(() => compileDispatchPlan(config, published, kind)).toThrow(
      'destination settings cannot be read by this build',
    );
  });
});

const noMarketing = { condition: { property: 'visitor.consent.marketing', operator: 'IsFalsy', value: '' } };
const rejectedAds = {
  condition: { property: 'visitor.consent.rejected_categories', operator: 'Contains', value: 'advertising' },
};

function center(categories: GlobalDispatchCenter['categories'], isEnabled = true): GlobalDispatchCenter {
  return { isEnabled, categories };
}

function visitorWith(consent: Readonly<Record<string, unknown>> | undefined): Subject {
  return { ...sampleEvent(), visitor: { id: 'v1', custom_properties: {}, ...(consent && { consent }) } };
}

const category = { name: 'Ads', priority: 2, destinationIds: ['facebook'], logic: noMarketing };

test.each<[string, Readonly<Record<string, unknown>> | undefined, string, string | undefined]>([
  ['consent that was not given stops', { marketing: false }, 'facebook', 'Ads'],
  ['consent that is not known stops', undefined, 'facebook', 'Ads'],
  ['consent that came as text stops', { marketing: 'false' }, 'facebook', 'Ads'],
  ['consent that was given does not stop', { marketing: true }, 'facebook', undefined],
  ['other destinations are not stopped', { marketing: false }, 'warehouse', undefined],
])('global dispatch: %s', (_, consent, destinationId, expected) => {
  expect(compileGlobalDispatch([center([category])], destinationId)(visitorWith(consent))).toBe(expected);
});

test('global dispatch: the outcome names the matching category with the highest priority', () => {
  const rejected = { name: 'Rejected', priority: 1, destinationIds: ['facebook', 'tiktok'], logic: rejectedAds };
  const find = compileGlobalDispatch([center([category, rejected])], 'facebook');
  expect(find(visitorWith({ rejected_categories: ['advertising'] }))).toBe('Rejected');
  expect(find(visitorWith({ rejected_categories: ['analytics'] }))).toBe('Ads');
  expect(find(visitorWith({ rejected_categories: [], marketing: true }))).toBeUndefined();
});

test.each([
  ['no center', []],
  ['a center that is not enabled', [center([category], false)]],
  ['a center without categories', [center([])]],
  ['a category without logic', [center([{ ...category, logic: null }])]],
  ['a category without destinations', [center([{ ...category, destinationIds: [] }])]],
])('global dispatch: %s stops nothing', (_, centers) => {
  expect(compileGlobalDispatch(centers, 'facebook')(visitorWith({ marketing: false }))).toBeUndefined();
});

test.each([
  [[{ ...category, logic: { OR: [] } }], 'categories[0].logic.OR '],
  [[category, { ...category, logic: 'x' }], 'categories[1].logic '],
])('global dispatch: %j is refused with the name of its field', (categories, start) => {
  const compile = (): unknown => compileGlobalDispatch([center(categories)], 'facebook');
  expect(compile).toThrow(PlanError);
  expect(compile).toThrow(start);
});

describe('consent', () => {
  const purpose = { id: 'ads', name: 'Ads', isEnabled: true, defaultState: 'Denied', regions: null, signals: null };

  test('integrations are checked before consent, and mappings after consent', () => {
    const consentSettings = [{ ...purpose, destinationIds: ['d1'] }];
    const mappings = [
      {
        id: 'm',
        destinationId: 'd1',
        priority: 1,
        isEnabled: true,
        logic: null,
        action: 'stop',
        eventName: null,
        mappings: [],
      },
    ];
    expect(decide({ consentSettings, mappings })).toMatchObject({ kind: 'no-consent', purpose: 'Ads' });
    expect(decide({ consentSettings, mappings }, { integrations: { All: false } })).toEqual({
      kind: 'skip',
      rule: 'integrations',
    });
    expect(decide({ consentSettings, mappings }, { consent: { ads: true } })).toEqual({ kind: 'stop', ruleId: 'm' });
  });

  test('the setting consentRule says whether one purpose is enough', () => {
    const consentSettings = ['ads', 'stats'].map((id) => ({ ...purpose, id, name: id, destinationIds: ['d1'] }));
    const consent = { ads: true, stats: false };
    const withRule = (consentRule: string) =>
      decide({ consentSettings, destinations: [{ ...destination, settings: { consentRule } }] }, { consent });
    expect([withRule('all').kind, withRule('any').kind]).toEqual(['no-consent', 'send']);
  });

  test('property: for a destination without an enabled purpose, consent never changes the decision', () => {
    const consentSettings = [
      { ...purpose, destinationIds: ['another'] },
      { ...purpose, id: 'off', name: 'Off', isEnabled: false, destinationIds: ['d1'] },
    ];
    const rules = {
      globalDispatchCenters: [
        {
          id: 'g',
          isEnabled: true,
          categories: [
            {
              name: 'c',
              priority: 1,
              destinationIds: ['d1'],
              logic: { condition: { property: 'event.event', operator: 'Is', value: 'stopped' } },
            },
          ],
        },
      ],
    };
    const event = fc.record({
      event: fc.constantFrom('stopped', 'sent'),
      consent: fc.dictionary(fc.constantFrom('ads', 'off', '$gpc', '$segment'), fc.boolean(), {
        noNullPrototype: true,
      }),
      test: fc.boolean(),
      context: fc.constantFrom({}, { gpc: true, tcf: 'broken', gpp: 'D' }),
    });
    fc.assert(
      fc.property(event, (one) => {
        expect(decide({ ...rules, consentSettings }, one)).toEqual(decide(rules, one));
      }),
      { numRuns: 1_000 },
    );
  });

  test('a purpose that this build cannot read stops every event to the destinations of that purpose', () => {
    const broken = { ...purpose, destinationIds: ['d1'], defaultState: 7 };
    expect(() => decide({ consentSettings: [broken] })).toThrow(
      'consentSettings ads: defaultState cannot be read by this build',
    );
    expect(decide({ consentSettings: [{ ...broken, destinationIds: ['another'] }] })).toEqual({ kind: 'send' });
  });
});
