import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNoOverlap, compileProperty } from './nested-property.ts';
import type { MutableProperties } from './nested-property.ts';
import { PlanError } from '../values/plan-error.ts';

function build(...entries: readonly (readonly [string, unknown])[]): MutableProperties {
  const properties: MutableProperties = {};
  for (const [name, value] of entries) compileProperty(name, 'property')(properties, value);
  return properties;
}

describe('nested property', () => {
  it('nested property: dots make objects', () => {
    expect(build(['value', 5], ['user_data.em', 'a'], ['user_data.ph', 'b'], ['a.b.c', null])).toEqual({
      value: 5,
      user_data: { em: 'a', ph: 'b' },
      a: { b: { c: null } },
    });
  });

  it.each(['toString', 'valueOf.x', 'hasOwnProperty'])('%s: is a name like any other', (name) => {
    const properties = build([name, 1]);
    expect(Object.keys(properties)).toHaveLength(1);
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
  });

  it.each([
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
  ])('%.30s: is refused by name', (name) => {
    expect(() => compileProperty(name, 'mappings[0].property')).toThrow(PlanError);
    expect(() => compileProperty(name, 'mappings[0].property')).toThrow(/^mappings\[0\]\.property /);
  });

  it('nested property: a value and what nests in it cannot both be set', () => {
    const check = (...names: string[]) => checkNoOverlap(names, (index) => `mappings[${index}].property`);
    expect(() => check('user', 'user.email')).toThrow(/^mappings\[1\]\.property .*user/);
    expect(() => check('a.b.c', 'a')).toThrow(/^mappings\[0\]\.property /);
    expect(() => check('a.b', 'a.c', 'ab', 'a.b')).not.toThrow();
  });

  it('nested property: no name reaches a prototype', () => {
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
});
