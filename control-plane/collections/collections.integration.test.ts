import { afterAll, beforeAll, expect, test } from 'vitest';
import { collections } from '../../shared/collections/registry.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;
let ids: { destination: string; source: string; manager: string; trigger: string; experiment: string };

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await client.post(path, body);
    expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
    return answer.body.id as string;
  };
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const manager = await made('/collections/tagManagers', { name: 'Base' });
  ids = {
    destination: await made('/destinations', { type: 'HTTPDestination', settings }),
    source: await made('/sources', { type: 'WebSource' }),
    manager,
    trigger: await made('/collections/tagManagerTriggers', { name: 'All', tagManagerId: manager, type: 'PageView' }),
    experiment: await made('/collections/experiments', { name: 'Base', key: 'base' }),
  };
});
afterAll(() => plane.stop());

const rule = {
  AND: [
    { condition: { property: 'event.event', operator: 'Is', value: 'Purchase' } },
    { NOT: { OR: [{ condition: { property: 'visitor.email', operator: 'MatchesRegex', value: '@example\\.com$' } }] } },
  ],
};

/** A full body of every collection, and a change to it. */
const samples: Readonly<Record<string, () => { body: Record<string, unknown>; change: Record<string, unknown> }>> = {
  allowedEvents: () => ({
    body: { name: 'Purchase', description: 'Bought', destinationIds: [ids.destination] },
    change: { description: null },
  }),
  externalAllowedEventData: () => ({
    body: { name: 'Widget', description: null, properties: ['total', 'currency'] },
    change: { properties: [] },
  }),
  mappings: () => ({
    body: {
      name: 'Main',
      destinationId: ids.destination,
      priority: 3,
      isEnabled: true,
      logic: rule,
      action: 'send',
      eventName: 'purchase',
      mappings: [{ property: 'value', map: '{{event.event_properties.total}}', modification: 'None' }],
    },
    change: { logic: null, action: 'stop' },
  }),
  consentSettings: () => ({
    body: {
      name: 'Analytics',
      description: null,
      isEnabled: true,
      defaultState: 'Granted',
      regions: ['DE', 'US-CA'],
      destinationIds: [ids.destination],
    },
    change: { regions: null },
  }),
  globalDispatchCenters: () => ({
    body: {
      name: null,
      isEnabled: true,
      categories: [{ name: 'EU', priority: 1, destinationIds: [ids.destination], logic: rule }],
    },
    change: { isEnabled: false },
  }),
  replaySettings: () => ({
    body: {
      name: 'Replay',
      isEnabled: true,
      sampleRate: 12.5,
      maskAllText: false,
      maskAllInputs: true,
      blockSelectors: ['.private'],
      sourceIds: [ids.source],
    },
    change: { sampleRate: 100, sourceIds: null },
  }),
  tagManagers: () => ({
    body: { name: 'Shop', description: 'Web', status: 'Enabled', sourceId: ids.source },
    change: { status: 'Disabled' },
  }),
  tagManagerTags: () => ({
    body: {
      name: 'Pixel',
      tagManagerId: ids.manager,
      type: 'ImagePixel',
      status: 'Enabled',
      content: 'https://example.com/p.gif',
      priority: 0,
      triggerIds: [ids.trigger],
      blockingTriggerIds: [],
      integrity: null,
      properties: [],
      purposeIds: [],
      fires: 'OncePerPage',
    },
    change: { triggerIds: [] },
  }),
  tagManagerTriggers: () => ({
    body: {
      name: 'Bought',
      tagManagerId: ids.manager,
      type: 'CustomEvent',
      eventName: 'Purchase',
      selector: null,
      threshold: null,
      intervalMs: null,
      limit: 3,
      logic: { condition: { property: 'event.event_properties.total', operator: 'IsGreaterThan', value: 10 } },
    },
    change: { logic: null },
  }),
  tagManagerVariables: () => ({
    body: { name: 'Total', tagManagerId: ids.manager, type: 'DataLayer', value: 'cart.total', defaultValue: '0' },
    change: { defaultValue: null },
  }),
  dataGovernanceRules: () => ({
    body: {
      name: 'Total is a number',
      description: null,
      isEnabled: true,
      severity: 'Error',
      eventName: 'Purchase',
      property: 'event.event_properties.total',
      type: 'Type',
      expected: 'number',
      action: 'Redact',
    },
    change: { type: 'Pattern', expected: '^[0-9]+$' },
  }),
  dataGovernanceEvents: () => ({
    body: {
      name: 'Purchase',
      description: null,
      status: 'Approved',
      owner: 'Shop team',
      properties: [{ name: 'total', type: 'number', isRequired: true, description: null, allowedValues: [1, 2.5] }],
      action: 'Drop',
    },
    change: { status: 'Deprecated', owner: null },
  }),
  experimentSettings: () => ({
    body: { isEnabled: true, whitelistDomains: ['example.com'] },
    change: { whitelistDomains: null },
  }),
  experiments: () => ({
    body: {
      name: 'Button',
      key: 'button-colour',
      description: null,
      type: 'multivariate',
      trafficAllocation: 40,
      urlPatterns: ['https://example.com/**'],
      queryRules: [{ parameter: 'utm_source', operator: 'regex', value: '^mail' }],
      primaryMetric: { event: 'Purchase' },
    },
    change: { trafficAllocation: 12.5, primaryMetric: null },
  }),
  experimentVariants: () => ({
    body: {
      experimentId: ids.experiment,
      name: 'Green',
      description: null,
      weight: 50,
      isControl: true,
      redirect: 'https://example.com/green',
      properties: { colour: 'green' },
    },
    change: { redirect: null },
  }),
};

const generic = collections.filter(({ name }) => name !== 'destinations' && name !== 'sources');

test.each(generic.map((collection) => [collection.name, collection] as const))(
  '%s: created, read, listed, written back, changed, published and deleted',
  async (name, collection) => {
    const { body, change } = samples[name]?.() ?? { body: {}, change: {} };
    const path = `/collections/${name}`;
    const created = await client.post(path, body);
    expect([created.status, created.body]).toEqual([200, expect.objectContaining(body)]);
    const one = `${path}/${created.body.id}`;
    if (collection.ids === 'slug') expect(created.body.id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect((await client.get(one)).body).toEqual(created.body);
    const listed = await client.get(`${path}?limit=100`);
    expect(listed.body.entities).toContainEqual(created.body);
    expect((await client.patch(one, created.body)).body).toEqual(created.body);
    const changed = await client.patch(one, change);
    expect(changed.body).toEqual({ ...created.body, ...change, updatedAt: expect.any(String) });
    const version = await client.publish({ includeTagManagerTriggers: [created.body.id] });
    const { jsonContent } = (await client.get(`/versions/${version.id}/snapshot`)).body;
    const published = jsonContent[name].some((entity: { id: string }) => entity.id === created.body.id);
    const onlyWhenAsked = name === 'tagManagerTags' || name === 'tagManagerVariables';
    const ofDraftExperiment = name === 'experiments' || name === 'experimentVariants';
    expect(published).toBe(!onlyWhenAsked && !ofDraftExperiment);
    expect(await client.delete(one)).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await client.get(one)).status).toBe(404);
  },
);

test.each([
  ['allowedEvents', {}, /name is required/],
  ['allowedEvents', { name: 'x', destinationIds: ['nowhere'] }, /destinationIds names nowhere/],
  ['allowedEvents', { name: 'x', colour: 'red' }, /colour is not a known field/],
  ['mappings', { destinationId: 'nowhere' }, /destinationId names nowhere/],
  ['mappings', () => ({ destinationId: ids.destination, action: 'drop' }), /action must be one of send, stop/],
  ['mappings', () => ({ destinationId: ids.destination, logic: { XOR: [] } }), /logic\.XOR is not a known field/],
  [
    'mappings',
    () => ({
      destinationId: ids.destination,
      logic: { condition: { property: 'a', operator: 'MatchesRegex', value: '(?<=a)b' } },
    }),
    /logic\.condition\.value must be a regular expression in RE2 syntax/,
  ],
  [
    'mappings',
    () => ({
      destinationId: ids.destination,
      logic: { condition: { property: 'a', operator: 'IsBetween', value: 3 } },
    }),
    /logic\.condition\.value must be two numbers/,
  ],
  [
    'mappings',
    () => ({ destinationId: ids.destination, logic: { AND: [{ OR: [{ condition: { property: 'event.event' } }] }] } }),
    /logic\.AND\[0\]\.OR\[0\]\.condition\.operator must be the name of an operator/,
  ],
  [
    'mappings',
    () => ({ destinationId: ids.destination, isEnabled: false, action: 'stop', eventName: '{{ }}' }),
    /eventName has a placeholder without a path/,
  ],
  [
    'mappings',
    () => ({ destinationId: ids.destination, mappings: [{ property: 'a', map: 'a {{}}', modification: 'None' }] }),
    /mappings\[0\]\.map has a placeholder without a path/,
  ],
  [
    'mappings',
    () => ({ destinationId: ids.destination, mappings: [{ property: 'a', map: 'b', modification: 'Rot13' }] }),
    /mappings\[0\]\.modification must be one of None, Null, Redacted/,
  ],
  ['globalDispatchCenters', { categories: [{ name: 'x' }] }, /categories\[0\]\.priority is required/],
  [
    'globalDispatchCenters',
    { categories: [{ name: 'x', priority: 1, destinationIds: [], logic: { AND: [] } }] },
    /categories\[0\]\.logic\.AND must be/,
  ],
  ['consentSettings', { name: 'x', signals: { tcf: { purposes: [25] } } }, /signals\.tcf\.purposes\[0\] must be/],
  ['consentSettings', { name: 'x', signals: { gpc: 'yes' } }, /signals\.gpc must be one of off, deny, always/],
  ['consentSettings', { name: 'x', signals: { gpp: ['optOut'] } }, /signals\.gpp\[0\] must be one of saleOptOut/],
  ['consentSettings', { name: 'x', signals: { oneTrust: [] } }, /signals\.oneTrust must/],
  ['consentSettings', { name: 'x', signals: { ccpa: true } }, /signals\.ccpa is not a known field/],
  ['consentSettings', { name: 'x', regions: ['Europe'] }, /regions\[0\] must/],
  ['consentSettings', { name: 'x', regions: [] }, /regions must/],
  ['mappings', () => ({ destinationId: ids.destination, others: 'some' }), /others must be one of omit, keep/],
  ['replaySettings', { sampleRate: 101 }, /sampleRate must be a number of 0 to 100/],
  [
    'tagManagerTriggers',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'CustomEvent' }),
    /eventName is required for a CustomEvent/,
  ],
  [
    'tagManagerTriggers',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'Click', logic: { NOT: 1 } }),
    /logic\.NOT must be an object/,
  ],
  [
    'tagManagerTriggers',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'Click', logic: rule }),
    /logic\.AND\[1\].*\.property must be variables/,
  ],
  [
    'tagManagerTriggers',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'Timer' }),
    /intervalMs is required for a Timer/,
  ],
  [
    'tagManagerTriggers',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'PageView', selector: 'a' }),
    /selector is only for Click and FormSubmission/,
  ],
  [
    'tagManagerVariables',
    () => ({ name: 'x', tagManagerId: ids.manager, type: 'Script', value: 'a()' }),
    /value must be the dotted path of a global/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.a', type: 'Type', expected: 'int' },
    /expected must be one of string/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.a', type: 'Pattern', expected: '(' },
    /expected must be a regular/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.a', type: 'OneOf', expected: 'EUR, USD' },
    /expected must be a JSON list/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.a', type: 'Range', expected: '5..1' },
    /expected must be two numbers/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'a', type: 'Forbidden' },
    /property must name a property of the event/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.a', type: 'Required', action: 'Omit' },
    /action must not be Omit for Required/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'event.visitor.consent.ads', type: 'Forbidden', action: 'Redact' },
    /action must not be Redact for consent/,
  ],
  [
    'dataGovernanceRules',
    { name: 'x', property: 'visitor.email', type: 'Forbidden', action: 'Redact' },
    /action must be Omit for an identifier/,
  ],
  [
    'dataGovernanceEvents',
    {
      name: 'x',
      properties: [{ name: 'p', type: 'number', isRequired: false, description: null, allowedValues: ['1'] }],
    },
    /properties\[0\]\.allowedValues must be values of the type number/,
  ],
  ['experiments', { name: 'x', key: 'not a key' }, /key must be/],
  ['experiments', { name: 'x', key: 'x', status: 'Running' }, /status is not a known field/],
  ['experiments', { name: 'x', key: 'x', trafficAllocation: 33.333 }, /trafficAllocation must be a percentage/],
  ['experiments', { name: 'x', key: 'x', urlPatterns: ['/a', '/b c'] }, /urlPatterns\[1\] must hold no space/],
  [
    'experiments',
    { name: 'x', key: 'x', queryRules: [{ parameter: 'p', operator: 'regex', value: '(?=a)' }] },
    /queryRules\[0\]\.value must be a regular expression/,
  ],
  ['experimentSettings', { whitelistDomains: ['not a domain'] }, /whitelistDomains must hold domain names/],
  ['experimentSettings', { token: 'exp_mine' }, /token is not a known field/],
  ['experimentVariants', { name: 'x', experimentId: 'nowhere' }, /experimentId names nowhere/],
  ['experimentVariants', () => ({ name: 'x', experimentId: ids.experiment, weight: 101 }), /weight must be a number/],
  [
    'experimentVariants',
    () => ({ name: 'x', experimentId: ids.experiment, redirect: 'javascript:alert(1)' }),
    /redirect must be an http or https URL/,
  ],
])('%s: refuses an invalid entity (%#)', async (name, given, message) => {
  const answer = await client.post(`/collections/${name}`, typeof given === 'function' ? given() : given);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)]);
});

test('names that must be unique are compared ignoring case; a second entity of a singleton collection is a 409', async () => {
  const own = await plane.newAccount();
  const first = await own.post('/collections/allowedEvents', { name: 'Signed Up' });
  const second = await own.post('/collections/allowedEvents', { name: 'Other' });
  // For clients that retry a 409, the reply says that a retry would not help.
  expect(await own.post('/collections/allowedEvents', { name: 'signed up' })).toMatchObject({
    status: 409,
    headers: { 'x-should-retry': 'false' },
  });
  const path = `/collections/allowedEvents/${second.body.id}`;
  expect((await own.patch(path, { name: 'SIGNED UP' })).status).toBe(409);
  expect((await own.patch(`/collections/allowedEvents/${first.body.id}`, { name: 'SIGNED UP' })).status).toBe(200);
  expect((await own.post('/collections/globalDispatchCenters', {})).status).toBe(200);
  expect((await own.post('/collections/globalDispatchCenters', {})).status).toBe(409);
  expect((await own.post('/collections/experiments', { name: 'a', key: 'same' })).status).toBe(200);
  expect((await own.post('/collections/experiments', { name: 'b', key: 'same' })).status).toBe(409);
});

test('slugs: come from the name, or from the kind of entity if the name yields no slug', async () => {
  const own = await plane.newAccount();
  const id = async (name: string): Promise<string> =>
    (await own.post('/collections/allowedEvents', { name })).body.id as string;
  expect(await id('Signed Up (Web)')).toBe('signed-up-web');
  expect(await id('signed-up web')).toMatch(/^signed-up-web-[a-z0-9]{8}$/);
  expect(await id('注册')).toMatch(/^allowed-event$/);
  expect(await id('購入')).toMatch(/^allowed-event-[a-z0-9]{8}$/);
});

test('filters: a list can be narrowed by the fields its collection names', async () => {
  const own = await plane.newAccount();
  const experiment = async (key: string) => (await own.post('/collections/experiments', { name: key, key })).body;
  const [one, two] = [await experiment('one'), await experiment('two')];
  for (const experimentId of [one.id, two.id, two.id]) {
    await own.post('/collections/experimentVariants', { experimentId, name: 'variant' });
  }
  const count = async (query: string): Promise<number> =>
    (await own.get(`/collections/experimentVariants?${query}`)).body.entities.length;
  expect(await count(`experimentId=${two.id}`)).toBe(2);
  expect(await count('nameContains=VARI')).toBe(3);
  expect((await own.get('/collections/experiments?status=Draft')).body.entities).toHaveLength(2);
  expect((await own.get('/collections/experiments?status=Nope')).status).toBe(400);
});

test('experiment settings: the token is generated by the service and cannot be changed', async () => {
  const own = await plane.newAccount();
  const { body } = await own.post('/collections/experimentSettings', {});
  expect(body.token).toMatch(/^exp_[A-Za-z0-9]{32}$/);
  const path = `/collections/experimentSettings/${body.id}`;
  expect((await own.patch(path, { token: 'exp_other', isEnabled: false })).body.token).toBe(body.token);
});

test.each([
  ['CustomHtml', '<b>x</b>', /type must not be CustomHtml/],
  ['CustomScript', 'a("{{Total}}")', /content must not hold \{\{ \}\}/],
  ['ScriptSource', 'https://a.b/{{Path}}.js', /content must be an https URL without/],
  ['ImagePixel', 'https://{{Host}}/p', /content must be an https URL without \{\{ \}\} in its host/],
  ['ImagePixel', 'javascript:alert(1)', /content must be an https URL/],
  ['TrackEvent', '$identify', /content must be the name of an event/],
])('create tagManagerTags: a %s of %s is refused', async (type, content, message) => {
  const { status, body } = await client.post('/collections/tagManagerTags', {
    name: 'x',
    tagManagerId: ids.manager,
    type,
    content,
  });
  expect([status, body.error]).toEqual([400, expect.stringMatching(message)]);
});

test('search: finds configuration by part of a name, event name, key or id, closest first, and only what the key may list', async () => {
  const own = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const add = async (path: string, body: object): Promise<string> => (await own.post(path, body)).body.id as string;
  const inside = await add('/destinations', { type: 'HTTPDestination', name: 'Our 100% Méta pixel', settings });
  const exact = await add('/destinations', { type: 'HTTPDestination', name: 'méta', settings });
  const source = await add('/sources', { type: 'WebSource', name: 'Meta shop' });
  const rule = await add('/collections/mappings', { destinationId: inside, eventName: 'MetaPurchase' });
  const find = async (query: string, client = own): Promise<readonly string[]> => {
    const answer = await client.get(`/search?query=${encodeURIComponent(query)}`);
    return (answer.body.entities as { id: string }[]).map(({ id }) => id);
  };
  expect(await find('MÉTA')).toEqual([exact, inside]);
  expect((await find('meta')).toSorted()).toEqual([source, rule].toSorted());
  expect(await find('100%')).toEqual([inside]);
  expect(await find('%')).toEqual([inside]);
  expect(await find(rule)).toEqual([rule]);
  expect(await find('meta', await plane.newKey(own, ['source:list']))).toEqual([source]);
  expect(await find('meta', await plane.newKey(own, ['version:find']))).toEqual([]);
  expect(await find('méta', client)).toEqual([]);
  expect((await own.get('/search?query=')).status).toBe(400);
  for (let n = 0; n < 25; n += 1) await add('/sources', { type: 'WebSource', name: `Many ${n}` });
  expect(await find('many')).toHaveLength(20);
});
