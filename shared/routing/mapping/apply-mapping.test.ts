import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeResolved, parseResolved } from '../../contracts/events/resolved-event.ts';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import type { MappingRule, MutableProperties } from './apply-mapping.ts';
import { checkMappingRule, checkNoOverlap, compileMappings, compileProperty } from './apply-mapping.ts';
import { PlanError } from '../values/plan-error.ts';
import { Work } from '../values/work.ts';

const subject = sampleEvent();
const always = { condition: { property: 'event.event', operator: 'Is', value: 'Order Completed' } };
const never = { NOT: always };

type PublishedRule = MappingRule & { readonly id: string };

function rule(id: string, fields: Partial<MappingRule> = {}): PublishedRule {
  return {
    id,
    priority: 1,
    isEnabled: true,
    logic: null,
    action: 'send',
    eventName: null,
    mappings: [],
    others: 'omit',
    ...fields,
  };
}

const apply = (...rules: readonly PublishedRule[]): unknown => compileMappings(rules, undefined)(subject);

test('mappings: without a rule the default payload is sent', () => {
  expect(apply()).toEqual({ kind: 'default' });
  expect(apply(rule('a', { logic: never }))).toEqual({ kind: 'default' });
  expect(apply(rule('a', { isEnabled: false, action: 'stop' }))).toEqual({ kind: 'default' });
});

test('mappings: the lowest priority number whose logic holds decides', () => {
  const rules = [
    rule('last', { priority: 10, action: 'stop' }),
    rule('second', { priority: 2, logic: always, action: 'stop' }),
    rule('first', { priority: 1, logic: never, action: 'stop' }),
    rule('off', { priority: 0, isEnabled: false, action: 'stop' }),
  ];
  expect(apply(...rules)).toEqual({ kind: 'stop', ruleId: 'second' });
  expect(apply(...rules.toReversed())).toEqual({ kind: 'stop', ruleId: 'second' });
});

test('mappings: rules of the same priority are tried by id', () => {
  expect(apply(rule('b', { action: 'stop' }), rule('a', { action: 'stop' }))).toEqual({ kind: 'stop', ruleId: 'a' });
});

test('mappings: a rule without logic always holds, and the logic of a disabled rule is not read', () => {
  expect(apply(rule('a', { action: 'stop' }), rule('b', { isEnabled: false, logic: 'broken' }))).toEqual({
    kind: 'stop',
    ruleId: 'a',
  });
});

describe('mappings: what is sent', () => {
  const properties = (mappings: MappingRule['mappings'], salt?: string): unknown => {
    const outcome = compileMappings([rule('a', { mappings })], salt)(subject);
    return outcome.kind === 'send' ? outcome.properties : outcome;
  };

  test('mappings: templates, modifications and nesting make the properties', () => {
    expect(
      properties(
        [
          { property: 'custom_data.value', map: '{{event.event_properties.value}}', modification: 'None' },
          { property: 'custom_data.currency', map: '{{event.event_properties.currency}}', modification: 'LowerCase' },
          { property: 'user_data.em', map: '{{visitor.email}}', modification: 'HashedNormalized' },
          { property: 'url', map: '{{event.context.current_url}}', modification: 'DomainOnly' },
          { property: 'source', map: 'server', modification: null },
          { property: 'phone', map: '{{visitor.phone_number}}', modification: 'HashedPhone' },
          { property: 'cleared', map: '{{visitor.email}}', modification: 'Null' },
        ],
        'pepper',
      ),
    ).toEqual({
      custom_data: { value: 42.5, currency: 'eur' },
      user_data: { em: createHash('sha256').update('pepperada@example.com').digest('hex') },
      url: 'https://shop.example.com',
      source: 'server',
      cleared: null,
    });
  });

  test('mappings: if several rows set a property, the last row that has a value decides', () => {
    const rows = ['{{visitor.email}}', '{{event.event_properties.email}}'].map((map) => ({ property: 'email', map }));
    expect(properties(rows)).toEqual({ email: 'ada@example.com' });
    expect(properties(rows.toReversed())).toEqual({ email: 'ada@example.com' });
    expect(properties([...rows, { property: 'email', map: 'x' }])).toEqual({ email: 'x' });
  });

  test('mappings: a rule that maps nothing keeps the event’s own properties', () => {
    expect(properties([])).toEqual(subject.event.event_properties);
  });

  test.each([
    [null, 'Order Completed'],
    ['', 'Order Completed'],
    ['Purchase', 'Purchase'],
    ['{{event.event_properties.currency}} order', 'EUR order'],
    ['{{event.event_properties.missing}}', 'Order Completed'],
  ])('mappings: eventName %j names the event %s', (eventName, expected) => {
    expect(apply(rule('a', { eventName }))).toMatchObject({ kind: 'send', ruleId: 'a', eventName: expected });
  });

  test('mappings: the event itself is never changed', () => {
    const before = structuredClone(subject);
    properties([
      { property: 'a.b', map: '{{event.event_properties.value}}' },
      { property: 'all', map: '{{event.event_properties}}', modification: 'UpperCase' },
    ]);
    expect(subject).toEqual(before);
  });
});

describe('mappings: rules that cannot be used', () => {
  const row = { property: 'a', map: 'b', modification: 'None' };

  test.each<[string, Partial<MappingRule>]>([
    ['logic.condition.operator', { logic: { condition: { property: 'a', operator: 'Like', value: '' } } }],
    ['logic', { logic: 'always' }],
    ['action', { action: 'drop' }],
    ['eventName', { eventName: '{{}}' }],
    ['mappings', { mappings: Array.from({ length: 501 }, () => row) }],
    ['mappings[0].property', { mappings: [{ ...row, property: '__proto__.x' }] }],
    ['mappings[0].modification', { mappings: [{ ...row, modification: 'Encrypt' }] }],
    ['mappings[1].property', { mappings: [row, { ...row, property: 'a.b' }] }],
  ])('%s: an unusable value is refused, and the error names this field', (field, fields) => {
    expect(checkMappingRule(rule('r1', fields))).toMatchObject([{ field }]);
    const compile = (): unknown => compileMappings([rule('r1', fields)], undefined);
    expect(compile).toThrow(PlanError);
    expect(compile).toThrow(`mapping r1: ${field} `);
  });

  test('mappings: a rule that can be used has no problem', () => {
    expect(checkMappingRule(rule('r1', { logic: always, mappings: [row] }))).toEqual([]);
    expect(checkMappingRule(rule('r2', { action: 'stop' }))).toEqual([]);
  });

  test('mappings: any text in a rule compiles or is refused, and applies to any event', () => {
    const text = fc.oneof(fc.string(), fc.constant('{{event.event_properties.x}}'));
    const rows = fc.array(fc.record({ property: fc.string(), map: text, modification: fc.option(fc.string()) }));
    fc.assert(
      fc.property(rows, fc.option(text), fc.jsonValue(), fc.jsonValue(), (mappings, eventName, logic, x) => {
        try {
          const applied = compileMappings([rule('a', { mappings, eventName, logic })], 'salt');
          expect(['send', 'default']).toContain(applied(sampleEvent({ event_properties: { x } })).kind);
        } catch (error) {
          expect(error).toBeInstanceOf(PlanError);
        }
      }),
    );
  });
});

function build(...entries: readonly (readonly [string, unknown])[]): MutableProperties {
  const properties: MutableProperties = {};
  for (const [name, value] of entries) compileProperty(name, 'property')(properties, value);
  return properties;
}

test('nested property: dots make objects', () => {
  expect(build(['value', 5], ['user_data.em', 'a'], ['user_data.ph', 'b'], ['a.b.c', null])).toEqual({
    value: 5,
    user_data: { em: 'a', ph: 'b' },
    a: { b: { c: null } },
  });
});

test.each(['toString', 'valueOf.x', 'hasOwnProperty'])('nested property: %s: is a name like any other', (name) => {
  const properties = build([name, 1]);
  expect(Object.keys(properties)).toHaveLength(1);
  expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
});

test.each([
  '__proto__',
  'a.__proto__.b',
  'constructor.prototype.x',
  'a.prototype',
  '',
  'a..b',
  '.a',
  'a. .b',
  'x'.repeat(251),
  'a.b.c.d.e.f.g.h.i.j.k',
])('nested property: %.30s: is refused with the name of its field', (name) => {
  expect(() => compileProperty(name, 'mappings[0].property')).toThrow(PlanError);
  expect(() => compileProperty(name, 'mappings[0].property')).toThrow(/^mappings\[0\]\.property /);
});

test('nested property: a property and a property nested in it cannot both be set', () => {
  const check = (...names: string[]) => checkNoOverlap(names, (index) => `mappings[${index}].property`);
  expect(() => check('user', 'user.email')).toThrow(/^mappings\[1\]\.property .*user/);
  expect(() => check('a.b.c', 'a')).toThrow(/^mappings\[0\]\.property /);
  expect(() => check('a.b', 'a.c', 'ab', 'a.b')).not.toThrow();
});

test('nested property: no name reaches a prototype', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      try {
        build([parts.join('.'), 'polluted']);
      } catch (error) {
        expect(error).toBeInstanceOf(PlanError);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      expect(typeof Object.prototype.toString).toBe('function');
    }),
  );
});

test('mappings: a number that a double rounds is hashed, encrypted and written in text by its digits', () => {
  const digits = '9876543210987655';
  const line = encodeResolved(sampleEvent({ event_properties: { card: 0, list: [0], whole: 1 } }))
    .replace('"card":0', `"card":${digits}`)
    .replace('[0]', `[${digits}]`)
    .replace('"whole":1', '"whole":1.0');
  const row = (property: string, map: string, modification = 'None') => ({ property, map, modification });
  const mappings = [
    row('text', 'card {{event.event_properties.card}}'),
    row('hash', '{{event.event_properties.card}}', 'Hash'),
    row('hashes', '{{event.event_properties.list}}', 'HashMD5'),
    row('whole', '{{event.event_properties.whole}}', 'Hash'),
    row('secret', '{{event.event_properties.card}}', 'Encrypted'),
  ];
  const encrypted: unknown[] = [];
  const applied = compileMappings(
    [rule('a', { mappings, eventName: 'Paid by {{event.event_properties.card}}' })],
    undefined,
    (_value, _property, text) => {
      encrypted.push(text);
      return 'secret';
    },
  )(parseResolved(line));
  const hashOf = (text: string, algorithm = 'sha256') => createHash(algorithm).update(text).digest('hex');
  expect(applied).toMatchObject({
    eventName: `Paid by ${digits}`,
    properties: {
      text: `card ${digits}`,
      hash: hashOf(digits),
      hashes: [hashOf(digits, 'md5')],
      whole: hashOf('1'),
      secret: 'secret',
    },
  });
  expect(encrypted).toEqual([digits]);
});

describe('mappings: `others` keeps or omits the properties without a row', () => {
  const properties = { total: 10, user: { email: 'a@b.c', city: 'Rome' }, 'dotted.name': 1, list: [1] };
  const of = sampleEvent({ event_properties: properties });
  const row = (property: string, map: string, modification = 'None') => ({ property, map, modification });
  const sent = (others: string, ...rows: readonly ReturnType<typeof row>[]): unknown => {
    const outcome = compileMappings([rule('a', { others, mappings: rows })], undefined)(of);
    return outcome.kind === 'send' ? outcome.properties : outcome;
  };

  test('keep: the named properties change, and the rest stays as it is', () => {
    expect(sent('keep', row('total', '{{event.event_properties.total}}0'), row('user.email', 'x', 'Hash'))).toEqual({
      ...properties,
      total: '100',
      user: { email: createHash('sha256').update('x').digest('hex'), city: 'Rome' },
    });
    expect(of.event.event_properties).toEqual(properties);
  });

  test('keep: a named property without a value is left out, not sent with its original value', () => {
    expect(sent('keep', row('user.email', '{{visitor.nothing}}'), row('dotted.name', '{{visitor.nothing}}'))).toEqual({
      total: 10,
      user: { city: 'Rome' },
      list: [1],
    });
  });

  test('keep: a property set within a value that is not an object replaces this value', () => {
    expect(sent('keep', row('list.first', 'x'), row('new.deep', 'y'))).toEqual({
      ...properties,
      list: { first: 'x' },
      new: { deep: 'y' },
    });
  });

  test('omit: only the named properties are sent', () => {
    expect(sent('omit', row('total', '1'))).toEqual({ total: '1' });
  });

  test('others: a value that this build does not know is refused', () => {
    expect(() => sent('some', row('total', '1'))).toThrow('others must be omit or keep');
  });

  test('keep: kept properties count as work of the event', () => {
    const work = new Work(1_000_000);
    const kept = compileMappings([rule('a', { others: 'keep', mappings: [row('x', '1')] })], undefined);
    kept({ event: of.event, visitor: of.visitor, work });
    expect(work.written).toBeGreaterThan(JSON.stringify(properties).length - 10);
  });
});
