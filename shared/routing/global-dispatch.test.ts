import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../destinations/sdk/sample-event.ts';
import { compileGlobalDispatch } from './global-dispatch.ts';
import type { GlobalDispatchCenter } from './global-dispatch.ts';
import { PlanError } from './values/plan-error.ts';
import type { Subject } from './values/property-path.ts';

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

describe('global dispatch', () => {
  it.each<[string, Readonly<Record<string, unknown>> | undefined, string, string | undefined]>([
    ['consent that was not given stops', { marketing: false }, 'facebook', 'Ads'],
    ['consent that is not known stops', undefined, 'facebook', 'Ads'],
    ['consent that came as text stops', { marketing: 'false' }, 'facebook', 'Ads'],
    ['consent that was given does not stop', { marketing: true }, 'facebook', undefined],
    ['other destinations are not stopped', { marketing: false }, 'warehouse', undefined],
  ])('%s', (_, consent, destinationId, expected) => {
    expect(compileGlobalDispatch([center([category])], destinationId)(visitorWith(consent))).toBe(expected);
  });

  it('global dispatch: the first category by priority that holds is named', () => {
    const rejected = { name: 'Rejected', priority: 1, destinationIds: ['facebook', 'tiktok'], logic: rejectedAds };
    const find = compileGlobalDispatch([center([category, rejected])], 'facebook');
    expect(find(visitorWith({ rejected_categories: ['advertising'] }))).toBe('Rejected');
    expect(find(visitorWith({ rejected_categories: ['analytics'] }))).toBe('Ads');
    expect(find(visitorWith({ rejected_categories: [], marketing: true }))).toBeUndefined();
  });

  it.each([
    ['no center', []],
    ['a center that is not enabled', [center([category], false)]],
    ['a center without categories', [center([])]],
    ['a category without logic', [center([{ ...category, logic: null }])]],
    ['a category without destinations', [center([{ ...category, destinationIds: [] }])]],
  ])('global dispatch: %s stops nothing', (_, centers) => {
    expect(compileGlobalDispatch(centers, 'facebook')(visitorWith({ marketing: false }))).toBeUndefined();
  });

  it.each([
    [[{ ...category, logic: { OR: [] } }], 'categories[0].logic.OR '],
    [[category, { ...category, logic: 'x' }], 'categories[1].logic '],
  ])('global dispatch: %j is refused by name', (categories, start) => {
    const compile = (): unknown => compileGlobalDispatch([center(categories)], 'facebook');
    expect(compile).toThrow(PlanError);
    expect(compile).toThrow(start);
  });
});
