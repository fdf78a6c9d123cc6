import { setImmediate } from 'node:timers/promises';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { containersOfSources } from './tags/compile-container.ts';
import type { TagCollections } from './tags/compile-container.ts';
import { readTagScript } from './web-snippet.ts';

/** Runs a pixel for a purpose whose default grants it. Returns the pixels so far, and a function that decides. */
async function openPage(signals: TagCollections['consentSettings'][number]['signals']) {
  const own = { tagManagerId: 'manager' };
  const trigger = { eventName: null, selector: null, threshold: null, intervalMs: null, limit: null, logic: null };
  const collections: TagCollections = {
    consentSettings: [{ id: 'ads', name: 'Ads', isEnabled: true, signals }],
    tagManagers: [{ id: 'manager', name: 'Shop', status: 'Enabled', sourceId: 'web' }],
    tagManagerVariables: [],
    tagManagerTriggers: [{ ...trigger, ...own, id: 'view', type: 'PageView' }],
    tagManagerTags: [
      {
        ...own,
        id: 'pixel',
        name: 'Pixel',
        type: 'ImagePixel',
        status: 'Enabled',
        content: 'https://pixel.test/view',
        integrity: null,
        properties: [],
        priority: 0,
        triggerIds: ['view'],
        blockingTriggerIds: [],
        purposeIds: ['ads'],
        fires: 'Always',
      },
    ],
  };
  const decided: Record<string, boolean> = {};
  const tags: { onConsent?: () => void } = Object.assign({
    address: 'https://in.test/container',
    events: [],
    decided: () => decided,
    defaults: () => ({ ads: true }),
  });
  const pixels: string[] = [];
  const listen = (): void => undefined;
  vm.runInNewContext(readTagScript().script, {
    sluice: { tags },
    document: { readyState: 'complete', addEventListener: listen },
    location: { href: 'https://shop.test/' },
    navigator: {},
    history: { pushState: listen },
    addEventListener: listen,
    URL,
    Image: class {
      set src(url: string) {
        pixels.push(url);
      }
    },
    fetch: () => Promise.resolve(new Response(containersOfSources(collections).get('web'))),
  });
  await setImmediate();
  await setImmediate();
  const decide = (ads: boolean): void => {
    decided['ads'] = ads;
    tags.onConsent?.();
  };
  return { pixels, decide };
}

test.each([
  ['no signals', null],
  ['Global Privacy Control', { gpc: 'deny' }],
  ["Segment's categories, which pages do not have", { segment: ['C4'] }],
])('tags: a purpose that reads %s is granted by its default', async (_name, signals) => {
  const { pixels } = await openPage(signals);
  expect(pixels).toEqual(['https://pixel.test/view']);
});

test.each([
  ['OneTrust', { oneTrust: ['C4'] }],
  ['Cookiebot', { cookiebot: ['marketing'] }],
  ['Didomi', { didomi: ['advertising'] }],
  ['a TC string', { tcf: { purposes: [1] } }],
  ['a GPP string', { gpp: ['saleOptOut'] }],
])(
  'tags: a purpose that reads %s is granted by a decision only, because the platform may deny it',
  async (_name, signals) => {
    const { pixels, decide } = await openPage(signals);
    expect(pixels).toEqual([]);
    decide(true);
    expect(pixels).toEqual(['https://pixel.test/view']);
  },
);
