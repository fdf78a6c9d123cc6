import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../contracts/events/envelope.ts';
import { readPlanSettings } from '../../contracts/config/plan-settings.ts';
import { numberText, parseExact, stringifyExact } from '../../json/exact-numbers.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { PlanRule } from './compile-tracking-plan.ts';
import { envelopeOf, head, judge, planOf, planned, rule, withX } from './testing/plans.ts';

describe('tracking plan: values that break a rule', () => {
  const cases: readonly [Partial<PlanRule>, broken: readonly unknown[], kept: readonly unknown[]][] = [
    [{ type: 'Required' }, [undefined, null], [0, '', false, {}, 'a']],
    [{ type: 'Forbidden' }, [null, 0, '', 'a', [], {}], [undefined]],
    [{ type: 'Type', expected: 'string' }, [1, true, {}, []], ['', 'a', null, undefined]],
    [{ type: 'Type', expected: 'number' }, ['1', true, {}, []], [0, 1.5, null, undefined]],
    [{ type: 'Type', expected: 'boolean' }, ['true', 1], [true, false, null]],
    [{ type: 'Type', expected: 'object' }, [[], 'a', 1], [{}, null]],
    [{ type: 'Type', expected: 'array' }, [{}, 'a', 1], [[], null]],
    [
      { type: 'OneOf', expected: '["EUR",1,true]' },
      ['USD', '1', 'eur', {}, ['EUR', 'USD']],
      ['EUR', 1, true, ['EUR', 1], [], null, undefined],
    ],
    [{ type: 'Range', expected: '-1.5 .. 10' }, [-2, 10.01, '5', true, {}, [5]], [-1.5, 0, 10, null, undefined]],
    [{ type: 'Range', expected: '1..' }, [0.99, -1], [1, 1e9]],
    [{ type: 'Range', expected: '..0' }, [0.01], [0, -1e9]],
    [{ type: 'Pattern', expected: '^[0-9]+$' }, ['a', '', true, {}, '1'.repeat(5_000)], ['12', 12, null, undefined]],
  ];
  test.each(cases)('tracking plan: %j', (own, broken, kept) => {
    const hitsOf = (value: unknown): number => judge({ rules: [rule(own)] }, withX(value))?.hits.length ?? -1;
    expect(broken.filter((value) => hitsOf(value) !== 1)).toEqual([]);
    expect(kept.filter((value) => hitsOf(value) !== 0)).toEqual([]);
  });

  test('tracking plan: a required property is required in each object of a list', () => {
    const rules = [rule({ type: 'Required', property: 'event_properties.products.price' })];
    const broken = (products: unknown): number =>
      judge({ rules }, envelopeOf({ eventProperties: { products } }))?.hits.length ?? -1;
    expect([[{ price: 1 }], [{ price: 1 }, {}], [{}], []].map(broken)).toEqual([0, 1, 1, 1]);
    expect([broken([{ price: 1 }, { price: null }]), broken([{ price: 0 }, { price: '' }])]).toEqual([1, 0]);
  });
});

describe('tracking plan: outcomes of an event', () => {
  test.each([
    ['Report', 'pass', undefined],
    ['Omit', 'pass', {}],
    ['Redact', 'pass', { x: 'REDACTED' }],
    ['Quarantine', 'quarantine', undefined],
    ['Drop', 'drop', undefined],
    ['Encrypt', 'quarantine', undefined],
  ])('tracking plan: %s', (action, outcome, properties) => {
    const verdict = judge({ rules: [rule({ action })] }, withX(1));
    expect([verdict?.outcome, verdict?.changed?.body.eventProperties]).toEqual([outcome, properties]);
  });

  test('tracking plan: if an event breaks several rules, the strictest rule decides and is named first', () => {
    const actions = ['Report', 'Omit', 'Redact', 'Drop', 'Quarantine'] as const;
    const rules = actions.map((action) => rule({ id: action, action }));
    const namesOf = (count: number) => judge({ rules: rules.slice(0, count) }, withX(1))?.hits.map((hit) => hit.rule);
    expect(namesOf(5)?.[0]).toBe('Drop');
    expect(namesOf(3)?.[0]).toBe('Omit');
    expect(judge({ rules: rules.slice(0, 3) }, withX(1))?.changed?.body.eventProperties).toEqual({});
  });

  test('tracking plan: a property is omitted under every name that its sender may give it', () => {
    const omit = (property: string) => rule({ id: property, property, action: 'Omit' });
    const rules = [
      'visitor.email',
      'visitor.external_id',
      'visitor.custom_properties.tier',
      '$event.default_properties.ip',
      'default_properties.url',
      'event.event_properties.x',
    ].map(omit);
    const own = { custom_properties: { tier: 1, kept: 1 } };
    const verdict = judge(
      { rules },
      envelopeOf(
        {
          email: 'a@b.c',
          externalId: 'e',
          userProperties: { email: 'a@b.c', external_id: 'e', kept: 1, ...own },
          ...own,
          properties: { x: 1, kept: 1 },
          eventProperties: { x: 2 },
          defaultProperties: { url: 'u', ip: 'i', kept: 1 },
          identityContext: { ip: 'i', userAgent: 'kept' },
        },
        { ctx: { ...own, defaultProperties: { url: 'u' }, identityContext: { ip: 'i' } } },
      ),
    );
    const kept = { custom_properties: { kept: 1 } };
    expect(JSON.parse(JSON.stringify(verdict?.changed))).toEqual({
      ...head,
      ip: undefined,
      ctx: { ...kept, identityContext: {} },
      body: {
        event: 'Bought',
        userProperties: { kept: 1, ...kept },
        ...kept,
        eventProperties: { kept: 1 },
        defaultProperties: { kept: 1 },
        identityContext: { userAgent: 'kept' },
      },
    });
  });

  test('tracking plan: an identifier is removed instead of redacted, as many visitors would share the redacted text', () => {
    const rules = [rule({ property: 'event_properties.email', action: 'Redact' })];
    const identify = envelopeOf({ userProperties: { email: 'a@b.c', name: 'Ann' } }, { kind: 'identify' });
    expect(judge({ rules }, identify, '$identify')?.changed?.body.userProperties).toEqual({ name: 'Ann' });
  });

  test.each([
    ['visitor.email', { email: 'a@b.c', userProperties: { email: 'a@b.c', kept: 1 } }, { kept: 1 }],
    ['visitor.external_id', { externalId: 'x', userProperties: { external_id: 'x', kept: 1 } }, { kept: 1 }],
    ['visitor.city', { userProperties: { city: 'Oslo', email: 'a@b.c' } }, { city: 'REDACTED', email: 'a@b.c' }],
  ])('tracking plan: an event keeps its other properties when %s is redacted', (property, body, userProperties) => {
    const changed = judge({ rules: [rule({ property, action: 'Redact' })] }, envelopeOf(body))?.changed?.body;
    expect([changed?.email, changed?.externalId, changed?.userProperties]).toEqual([
      undefined,
      undefined,
      userProperties,
    ]);
  });

  test('tracking plan: user agent and IP address are omitted from every field that can hold them', () => {
    const omitted = (property: string) =>
      judge({ rules: [rule({ property, action: 'Omit' })] }, envelopeOf({ userProperties: { kept: 1 } }))?.changed;
    expect(omitted('context.user_agent')?.ua).toBeUndefined();
    expect(omitted('context.user_agent')?.ip).toBe('192.0.2.1');
    expect([omitted('context.sender.ip')?.ip, omitted('context.sender.ip')?.ua]).toEqual([undefined, 'Browser']);
    const { ip: _, ua: __, ...others } = head;
    expect(omitted('context.sender')).toEqual({ ...others, body: expect.anything() });
    expect(omitted('context.ip.more')).toBeUndefined();
  });

  test.each([
    ['event_properties.consent', '$identify'],
    ['event_properties.consent.ads', '$identify'],
    ['event_properties.consent.rejected_categories.0', '$identify'],
    ['visitor.consent', 'Bought'],
    ['visitor.consent.ads', 'Bought'],
  ])('tracking plan: a rule for %s changes no consent in %s', (property, event) => {
    const consent = { ads: false, rejected_categories: ['ads'] };
    const envelope = () =>
      envelopeOf(
        { event, consent, userProperties: { consent, kept: 1 } },
        { kind: event === '$identify' ? 'identify' : 'track' },
      );
    for (const action of ['Omit', 'Redact']) {
      const verdict = judge({ rules: [rule({ property, action })] }, envelope(), event);
      expect(verdict).toMatchObject({ outcome: 'pass', hits: [{ rule: 'r' }], changed: undefined });
    }
  });

  test('tracking plan: a property of an event may be named consent, and rules change it', () => {
    const rules = [rule({ property: 'event_properties.consent', action: 'Omit' })];
    const eventProperties = { consent: 'yes', kept: 1 };
    for (const consent of [null, { ads: false, rejected_categories: ['ads'] }]) {
      const changed = judge({ rules }, envelopeOf({ eventProperties, consent }))?.changed;
      expect(changed?.body).toMatchObject({ eventProperties: { kept: 1 }, consent });
    }
  });

  test('tracking plan: a rule for the visitor’s consent also reads consent beside the user properties', () => {
    const rules = [rule({ property: 'visitor.consent.ads', type: 'Type', expected: 'string' })];
    expect(judge({ rules }, envelopeOf({ consent: { ads: false } }))?.hits).toMatchObject([{ rule: 'r' }]);
  });

  test('tracking plan: options for a destination are part of the context, and no rule changes whether it is allowed', () => {
    const integrations = { All: false, Klaviyo: { email: 'a@b.c', list: 1 }, Braze: false };
    const changedBy = (property: string, action: PlanRule['action']) => {
      const body = { integrations, defaultProperties: { url: 'u' } };
      const changed = judge({ rules: [rule({ property, action })] }, envelopeOf(body))?.changed?.body;
      return changed && { integrations: changed.integrations, context: changed.defaultProperties };
    };
    const allowed = { All: false, Klaviyo: true, Braze: false };
    expect(changedBy('default_properties.integrations.Klaviyo.email', 'Omit')).toEqual({
      integrations: allowed,
      context: { url: 'u', integrations: { Klaviyo: { list: 1 } } },
    });
    expect(changedBy('context.integrations', 'Redact')).toEqual({
      integrations: allowed,
      context: { url: 'u', integrations: 'REDACTED' },
    });
    expect(changedBy('context.integrations.Braze', 'Omit')).toBeUndefined();
    const withoutOptions = envelopeOf({ integrations: allowed, eventProperties: { x: 1 } });
    const changed = judge({ rules: [rule({ action: 'Omit' })] }, withoutOptions)?.changed?.body;
    expect(changed).toEqual({ event: 'Bought', integrations: allowed, eventProperties: {} });
  });

  test('tracking plan: a path below an identifier changes nothing, and text in place of properties stays as it is', () => {
    const omitted = (property: string, body: JsonObject) =>
      judge({ rules: [rule({ property, action: 'Omit' })] }, envelopeOf(body))?.changed?.body;
    const identifiers = { email: 'a@b.c', externalId: 'e', 'email.domain': 'b.c' };
    for (const property of ['visitor.email.domain', 'visitor.external_id.part'])
      expect(omitted(property, identifiers)).toBeUndefined();
    expect(omitted('event_properties.x', { properties: 'text', eventProperties: { x: 1, y: 1 } })).toEqual({
      event: 'Bought',
      properties: 'text',
      eventProperties: { y: 1 },
    });
    expect(omitted('event_properties.list.0', { eventProperties: { list: ['a', 'b'] } })?.eventProperties).toEqual({
      list: [null, 'b'],
    });
  });

  test('tracking plan: a property that is no identifier is redacted, also beside or with the name of one', () => {
    const redacted = (property: string, body: JsonObject) =>
      judge({ rules: [rule({ property, action: 'Redact' })] }, envelopeOf(body))?.changed?.body;
    expect(redacted('event_properties.email', { eventProperties: { email: 'a@b.c' } })?.eventProperties).toEqual({
      email: 'REDACTED',
    });
    expect(redacted('visitor.custom_properties', { custom_properties: { tier: 1 } })?.custom_properties).toBe(
      'REDACTED',
    );
  });

  test('tracking plan: an event that costs too much work is quarantined, even if its rules only report', () => {
    const list = Array.from({ length: 200 }, () => ({ x: 'a'.repeat(1_000) }));
    const rules = [rule({ property: 'event_properties.list.x', type: 'Pattern', expected: 'b$', action: 'Report' })];
    const verdict = judge({ rules }, envelopeOf({ eventProperties: { list } }));
    expect(verdict).toMatchObject({ outcome: 'quarantine', hits: [{ rule: 'too-costly' }], changed: undefined });
  });
});

describe('tracking plan: which events a rule or planned event applies to', () => {
  test('tracking plan: names match without case, and rules for every event apply to Sluice’s own events too, except Required', () => {
    const rules = [
      rule({ id: 'own', eventName: 'BOUGHT' }),
      rule({ id: 'other', eventName: 'Sold' }),
      rule({ id: 'every' }),
      rule({ id: 'required', type: 'Required', property: 'event_properties.y' }),
      rule({ id: 'off', isEnabled: false }),
    ];
    const hits = (name: string) => judge({ rules }, withX(1), name)?.hits.map((hit) => hit.rule);
    expect(hits('bought')).toEqual(['every', 'required', 'own']);
    expect(hits('$identify')).toEqual(['every']);
    const ofService = judge({ rules: [...rules, rule({ id: 'page', eventName: '$page' })] }, withX(1), '$page');
    expect(ofService?.hits.map((hit) => hit.rule)).toEqual(['every', 'page']);
  });

  test('tracking plan: an event that is named in a rule, but is not planned, is unknown', () => {
    const own = { rules: [rule({ eventName: 'Sold' })], events: [planned({})] };
    expect(judge(own, envelopeOf({}), 'Sold')?.hits.map((hit) => hit.rule)).toEqual(['unknown-event']);
  });

  test('tracking plan: unplanned properties are unknown only once an event is Approved; an event without properties has none', () => {
    const hits = (status: string, envelope: Envelope) =>
      judge({ events: [planned({ status })] }, envelope)?.hits.map((hit) => hit.rule);
    expect(hits('Approved', withX(1))).toEqual(['unknown-property']);
    expect(hits('Approved', envelopeOf({}))).toEqual([]);
    expect(hits('Deprecated', withX(1))).toEqual(['deprecated-event']);
  });

  test('tracking plan: a planned event that is broken in two ways is named once, with the stricter action', () => {
    const properties = [
      { name: 'x', type: 'string', isRequired: false },
      { name: 'y', type: 'any', isRequired: true },
    ];
    const hits = judge({ events: [planned({ action: 'Omit', properties })] }, withX(1))?.hits;
    expect(hits?.map(({ rule: id, action }) => [id, action])).toEqual([['p', 'Omit']]);
  });

  test('tracking plan: a planned property that cannot be compiled and would only report is ignored', () => {
    const properties = [{ name: '.'.repeat(30), type: 'string', isRequired: true }];
    expect(judge({ events: [planned({ properties })] }, envelopeOf({}))?.hits).toEqual([]);
  });

  test.each(['Order No.', 'total ', ' total', 'a..b', '.', '$x'])(
    'tracking plan: a planned property named %j',
    (name) => {
      const properties = [{ name, type: 'string', isRequired: true }];
      const hitsOf = (eventProperties: JsonObject) =>
        judge({ events: [planned({ properties, action: 'Quarantine' })] }, envelopeOf({ eventProperties }))?.hits
          .length;
      expect([hitsOf({ [name]: 'x' }), hitsOf({ [name]: 1 }), hitsOf({ [`${name}x`]: 'x' })]).toEqual([0, 1, 2]);
    },
  );

  test('tracking plan: disabled rules and proposed events make no plan', () => {
    expect([
      planOf({}),
      planOf({ rules: [rule({ isEnabled: false })] }),
      planOf({ events: [planned({ status: 'Proposed' })] }),
    ]).toEqual([undefined, undefined, undefined]);
  });

  test('tracking plan: a planned property with allowed values refuses any other value', () => {
    const properties = [{ name: 'x', type: 'string', isRequired: false, allowedValues: ['a', 'b'] }];
    const events = [planned({ action: 'Redact', properties })];
    expect(judge({ events }, withX('a'))?.hits).toEqual([]);
    expect(judge({ events }, withX('c'))?.changed?.body.eventProperties).toEqual({ x: 'REDACTED' });
  });

  test('tracking plan: once any event is Approved, unplanned events and properties are unknown; Deprecated events are reported', () => {
    const properties = [
      { name: 'x', type: 'string', isRequired: false },
      { name: 'list.price', type: 'number', isRequired: true },
    ];
    const events = [
      planned({ action: 'Omit', properties }),
      planned({ id: 'old', name: 'Old', status: 'Deprecated' }),
      planned({ id: 'new', name: 'New', status: 'Proposed', properties }),
    ];
    const settings = {
      unknownEvents: { action: 'Drop', severity: 'Error' },
      unknownProperties: { action: 'Omit', severity: 'Info' },
    };
    const own = { events, settings };
    const envelope = envelopeOf({ eventProperties: { x: 1, y: 1, list: [{ price: 'a', kept: 1 }] } });
    const verdict = judge(own, envelope);
    expect(verdict?.hits.map(({ rule: id }) => id)).toEqual(['p', 'unknown-property']);
    expect(verdict?.changed?.body.eventProperties).toEqual({ list: [{ kept: 1 }] });
    const outcome = (name: string) => judge(own, withX('a'), name);
    expect(outcome('Other')).toMatchObject({ outcome: 'drop', hits: [{ rule: 'unknown-event', severity: 'Error' }] });
    // The action of a newer build is not ignored.
    const newer = { ...settings, unknownEvents: { action: 'Encrypt', severity: 'Deafening' } };
    const held = { outcome: 'quarantine', hits: [{ severity: 'Warning' }] };
    expect(judge({ events, settings: newer }, withX('a'), 'Other')).toMatchObject(held);
    expect(outcome('Old')?.hits.map(({ rule: id }) => id)).toEqual(['unknown-property', 'deprecated-event']);
    expect(['New', '$page'].map((name) => outcome(name)?.hits ?? [])).toEqual([[], []]);
    expect(planOf({ ...own, events: events.slice(1) })?.concerns('Other')).toBe(false);
  });

  test.each([
    ['Report', { hits: 1, outcome: 'pass' }],
    ['Omit', { hits: 1, outcome: 'pass' }],
    ['Drop', { hits: 1, outcome: 'drop' }],
  ])('tracking plan: with the action %s, a missing required property gives %j', (action, expected) => {
    const properties = [
      { name: 'x', type: 'any', isRequired: true },
      { name: 'y', type: 'any', isRequired: false },
    ];
    const own = { events: [planned({ action, properties })] };
    const verdict = judge(own, envelopeOf({ eventProperties: { y: 1 } }));
    expect({ hits: verdict?.hits.length, outcome: verdict?.outcome }).toEqual(expected);
    expect(verdict?.hits[0]?.action).toBe(action === 'Drop' ? 'Drop' : 'Report');
    expect(judge(own, withX({}))?.hits).toEqual([]);
  });

  test('tracking plan: Sluice’s own events are checked against their entry, and their unlisted properties are never unknown', () => {
    const properties = [{ name: 'x', type: 'string', isRequired: false }];
    const own = { events: [planned({ name: '$page', properties }), planned({ id: 'q' })] };
    const page = envelopeOf({ event: '$page', eventProperties: { x: 1, other: 1 } });
    expect(judge(own, page)?.hits.map(({ rule: id }) => id)).toEqual(['p']);
  });

  test('tracking plan: an unreadable entity quarantines no event if it is disabled, can be read with a default, or is not a rule', () => {
    const entity = { id: 'u', action: 'Omit' };
    const of = (own: JsonObject, about: { collection?: string; isDefaulted?: boolean } = {}) =>
      planOf({
        unreadable: [
          {
            collection: 'dataGovernanceRules',
            id: 'u',
            field: 'type',
            isDefaulted: false,
            ...about,
            entity: { ...entity, ...own },
          },
        ],
      });
    expect(of({})?.judge('Any', withX(1))).toMatchObject({ outcome: 'quarantine', hits: [{ rule: 'u' }] });
    expect(of({ isEnabled: true, eventName: 7 })?.concerns('Any')).toBe(true);
    expect([of({ isEnabled: false }), of({}, { isDefaulted: true }), of({}, { collection: 'mappings' })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('tracking plan: an unreadable planned event is known, and holds its events unless it is proposed or only reports', () => {
    const of = (entity: JsonObject, name = 'bought', collection = 'dataGovernanceEvents') =>
      planOf({
        events: [planned({ name: 'Other' })],
        unreadable: [
          {
            collection,
            id: 'u',
            field: 'properties',
            isDefaulted: false,
            entity: { id: 'u', name: 'Bought', ...entity },
          },
        ],
        settings: readPlanSettings({ unknownEvents: { action: 'Drop', severity: 'Error' } }),
      })?.judge(name, withX(1));
    const held = { outcome: 'quarantine', hits: [{ rule: 'u' }] };
    const unknown = { outcome: 'drop', hits: [{ rule: 'unknown-event' }] };
    expect(of({ status: 'Approved', action: 'Drop' })).toMatchObject(held);
    expect(of({ status: 'Approved', action: 'Drop' }, 'sold')).toMatchObject(unknown);
    expect(of({ status: 'Approved', action: 'Drop', name: 7 }, 'other')?.outcome).toBe('quarantine');
    expect(of({ status: 'Approved' }, 'bought', 'mappings')).toMatchObject(unknown);
    expect(of({ status: 'Approved' })).toMatchObject({ outcome: 'pass', hits: [] });
    expect(of({ action: 'Drop' })).toMatchObject({ outcome: 'pass', hits: [] });
  });

  test('tracking plan: a rule that cannot be read or compiled is ignored if it would only report; otherwise it quarantines events', () => {
    const broken = { property: 'event.id', eventName: 'Bought' };
    expect(judge({ rules: [rule(broken)] }, withX(1))).toBeUndefined();
    expect(judge({ rules: [rule({ ...broken, action: 'Omit' })] }, withX(1))?.outcome).toBe('quarantine');
    const unreadable = (entity: JsonObject) => [
      { collection: 'dataGovernanceRules', id: 'u', field: 'type', isDefaulted: false, entity: { id: 'u', ...entity } },
    ];
    expect(planOf({ unreadable: unreadable({}) })).toBeUndefined();
    const held = planOf({ unreadable: unreadable({ action: 'Redact', eventName: 'bought' }) });
    expect(held?.judge('Bought', withX(1))).toMatchObject({ outcome: 'quarantine', hits: [{ rule: 'u' }] });
    expect(held?.concerns('Sold')).toBe(false);
  });
});

/** The scalars in a value as text. In front of each scalar is its path of names, without indexes. */
function scalarsOf(value: unknown, text: string | undefined, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [`${path.join('.')}=${text ?? JSON.stringify(value)}`];
  return Object.keys(value).flatMap((name) =>
    scalarsOf((value as JsonObject)[name], numberText(value, name), Array.isArray(value) ? path : [...path, name]),
  );
}

test('tracking plan: a forbidden property with the action Omit is removed at any depth, and nothing else changes', () => {
  const canary = 'forbidden-value';
  const names = fc.constantFrom('a', 'b', 'c.d', 'e', '__proto__');
  const numbers = fc.constantFrom('1.0', '-0', '12345678901234567890', '1e400', '7');
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      numbers,
      fc.string({ maxLength: 5 }).map((text) => JSON.stringify(text)),
      fc.array(tie('tree'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .uniqueArray(fc.tuple(names, tie('tree')), { maxLength: 3, selector: ([name]) => name })
        .map((members) => `{${members.map(([name, member]) => `${JSON.stringify(name)}:${member}`).join(',')}}`),
    ),
  }));
  /** JSON that has the canary at a path, through objects and lists. */
  const around = (path: readonly string[], beside: string, isList: boolean): string => {
    const [name, ...rest] = path;
    if (name === undefined) return JSON.stringify(canary);
    const members = `{${JSON.stringify(name)}:${around(rest, beside, !isList)},"beside":${beside}}`;
    return isList ? `[${beside},${members}]` : members;
  };
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 5 }), tree, fc.boolean(), (path, beside, isList) => {
      const properties = `{"top":${around(path, beside, isList)},"kept":1.00}`;
      const parse = (): Envelope =>
        parseExact(
          JSON.stringify({ ...head, body: {} }).replace('"body":{', () => `"body":{"eventProperties":${properties}`),
        ) as Envelope;
      const target = ['top', ...path].join('.');
      const plan = planOf({ rules: [rule({ property: `event_properties.${target}`, action: 'Omit' })] });
      const changed = plan?.judge('E', parse()).changed?.body.eventProperties;
      const text = stringifyExact(changed, changed);
      expect(text).not.toContain(canary);
      const isForbidden = (scalar: string): boolean =>
        scalar.startsWith(`${target}=`) || scalar.startsWith(`${target}.`);
      const before = scalarsOf(parse().body.eventProperties, undefined);
      expect(scalarsOf(parseExact(text), undefined)).toEqual(before.filter((scalar) => !isForbidden(scalar)));
      const other = planOf({ rules: [rule({ property: 'event_properties.none', action: 'Omit' })] });
      expect(other?.judge('E', parse())).toMatchObject({ changed: undefined, hits: [] });
    }),
  );
});
