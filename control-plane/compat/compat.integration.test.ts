import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createLibraryClient } from './testing/library-client.ts';
import type { LibraryClient } from './testing/library-client.ts';

let plane: TestControlPlane;
let client: Client;
let library: LibraryClient;
let destinationId: string;

const settings = { httpDestinationUrl: 'https://example.com/' };
const unknownId = '00000000-0000-7000-8000-000000000000';

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
  library = createLibraryClient(plane.baseUrl, client);
  destinationId = (await library.post('/destinations', { type: 'HTTPDestination', name: 'Hooks', settings })).body.id;
});
afterAll(() => plane.stop());

test('versions: the library publishes with one call and does not retry if nothing is left to publish; other clients take two calls', async () => {
  const account = await plane.newAccount();
  const own = createLibraryClient(plane.baseUrl, account);
  const { body: source } = await own.post('/sources', { type: 'NodejsApi', name: 'Server' });
  const taken = await account.post('/versions');
  expect(taken.body).toMatchObject({ versionNumber: 1, isPublished: false, publishedAt: null });
  const published = await own.post('/versions', { name: 'First', includeExperiments: [], includeSources: null });
  expect(published).toMatchObject({ status: 200, body: { versionNumber: 2, name: 'First', isPublished: true } });
  expect((await own.get(`/sources/${source.id}`)).body.isPublished).toBe(true);
  const idle = await own.post('/versions', {});
  expect(idle).toMatchObject({ status: 409, sent: 1, headers: { 'x-should-retry': 'false' } });
  expect(idle.body.error).toMatch(/nothing to publish/);
  expect(await own.post(`/versions/${published.body.id}/publish`)).toMatchObject({ status: 409, sent: 1 });
  expect((await account.post(`/versions/${published.body.id}/publish`)).status).toBe(200);
  expect((await own.post(`/versions/${taken.body.id}/publish`)).body.isPublished).toBe(true);
});

test('versions: an account may publish every version on creation, unless the client says otherwise', async () => {
  const account = await plane.newAccount();
  expect((await account.get('/account')).body).toMatchObject({ id: account.accountId, publishOnCreate: false });
  expect((await account.patch('/account', { publishOnCreate: true })).body.publishOnCreate).toBe(true);
  await account.post('/sources', { type: 'NodejsApi' });
  const narrow = await plane.newKey(account, ['version:create']);
  expect((await narrow.post('/versions')).status).toBe(403);
  expect((await narrow.post('/versions', { publish: false })).body.isPublished).toBe(false);
  expect((await account.post('/versions', { publish: null })).body.isPublished).toBe(true);
  expect((await account.post('/versions')).status).toBe(409);
});

test('versions: several publishes at once end in one version, and the other calls get a 409', async () => {
  const own = createLibraryClient(plane.baseUrl, await plane.newAccount());
  await own.post('/sources', { type: 'NodejsApi' });
  const answers = await Promise.all(Array.from({ length: 4 }, () => own.post('/versions', {})));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
});

test('destinations: an incomplete destination can be created, the missing setting is named, and only a complete one is published', async () => {
  const own = createLibraryClient(plane.baseUrl, await plane.newAccount());
  const { body: draft } = await own.post('/destinations', { type: 'HTTPDestination' });
  expect(draft.status).toBe('Disabled');
  const enabled = await own.patch(`/destinations/${draft.id}`, { status: 'Enabled' });
  expect(enabled).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/settings\.httpDestinationUrl/) },
  });
  const early = await own.post('/versions', {});
  expect(early).toMatchObject({ status: 400, body: { error: expect.stringMatching(/settings\.httpDestinationUrl/) } });
  expect((await own.patch(`/destinations/${draft.id}`, { settings, status: 'Enabled' })).body.status).toBe('Enabled');
  expect((await own.post('/versions', {})).status).toBe(200);
});

test('source tokens: come with a script for a page, or with an address and a command to try it', async () => {
  const tokensOf = async (type: string) => {
    const redirect = type === 'RedirectSource' ? { redirectUrl: 'https://example.com/' } : {};
    const { body } = await library.post('/sources', { type, ...redirect });
    return (await library.get(`/sources/${body.id}/tokens`)).body;
  };
  const web = await tokensOf('WebSource');
  expect(web).toMatchObject({ sourceType: 'pixel', installScript: expect.stringContaining(web.token) });
  expect((await tokensOf('PixelImage')).testInstallScript).toMatch(/\/pixel\/src_test_\w+\.gif/);
  const webhook = await tokensOf('CalendlyWebhook');
  expect(webhook).toMatchObject({
    sourceType: 'webhook',
    ingestUrl: `https://ingest.example.com/webhook/${webhook.token}`,
  });
  const server = await tokensOf('NodejsApi');
  expect(server.ingestUrl).toBe('https://ingest.example.com/api/v1/track');
  expect(server.sampleCurl).toContain(`"token":"${server.token}"`);
  expect((await tokensOf('RedirectSource')).ingestUrl).toMatch(/\/redirect\/src_live_/);
});

test('allowed events: follow the library’s rules for names, drop unknown destination ids, and show when they were last seen', async () => {
  const path = '/allowed-events';
  const made = await library.post(path, { name: '  Purchase ', destinationIds: [destinationId, unknownId, 'gone'] });
  expect(made.body).toMatchObject({ name: 'Purchase', destinationIds: [destinationId], trigger: null });
  for (const name of ['purchase', '$heatmap', '   ', 'x'.repeat(1_001)]) {
    expect(await library.post(path, { name })).toMatchObject({ status: 409, sent: 1 });
  }
  await library.post(path, { name: '$identify', destinationIds: null });
  await client.post('/collections/allowedEvents', { name: '$mine' });
  const names = (await library.get(path)).body.entities.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['$identify', 'Purchase']);
  const changed = await library.patch(`${path}/${made.body.id}`, {
    trigger: 'on thanks',
    name: null,
    destinationIds: null,
  });
  expect(changed.body).toMatchObject({ name: 'Purchase', trigger: 'on thanks', destinationIds: [destinationId] });
  const own = (await client.get(`/collections/allowedEvents/${made.body.id}`)).body;
  expect(own).toMatchObject({ name: 'Purchase', description: 'on thanks' });
  await plane.storage.fork().execute(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
     values (?, 'e1', '2026-01-01', '2026-01-02', 's', 'PURCHASE', 'v', false, '{"event_properties":{"total":1,"plan":"a"}}')`,
    [client.accountId],
  );
  await plane.storage.fork().execute(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, attempts, at)
     values (?, 'e1', ?, 'delivered', 1, '2026-01-03')`,
    [client.accountId, destinationId],
  );
  expect((await library.get(`${path}/${made.body.id}`)).body).toMatchObject({
    lastTriggeredAt: '2026-01-02T00:00:00.000Z',
    lastDispatchedAt: '2026-01-03T00:00:00.000Z',
  });
  expect((await library.delete(`${path}/${made.body.id}`)).body).toBe(true);
  expect((await library.get(`${path}/${made.body.id}`)).status).toBe(404);
  const { entities } = (await library.get('/mappings/custom-variables')).body;
  expect(entities.map(({ path: of }: { path: string }) => of)).toEqual([
    'event.event_properties.plan',
    'event.event_properties.total',
  ]);
});

test('data governance: is one record whose categories are sorted and numbered', async () => {
  const path = '/data-governance';
  const made = await library.post(path, {});
  expect(made.body).toMatchObject({
    name: 'Data Governance',
    kind: 'dataGovernance',
    isEnabled: false,
    categories: [],
  });
  expect(await library.post(path, {})).toMatchObject({ status: 409, sent: 1 });
  const logic = { condition: { property: '$visitor.consent.marketing', operator: 'IsFalsy', value: '' } };
  const categories = [
    { description: 'no place given', logic: {} },
    { name: 'Later', priority: 7.5, destinationIds: [unknownId] },
    { name: 'First', priority: 2, destinationIds: [destinationId], logic },
  ];
  const changed = await library.patch(`${path}/${made.body.id}`, { isEnabled: true, notes: 'why', categories });
  expect(changed.body).toMatchObject({
    isEnabled: true,
    notes: 'why',
    categories: [
      { name: 'First', priority: 1, destinationIds: [destinationId], logic },
      { name: 'Later', priority: 2, destinationIds: [], logic: null },
      { name: 'Category 3', priority: 3, description: 'no place given', logic: null },
    ],
  });
  const bad = { categories: [{ logic: { condition: { property: 'event.event', operator: 'Contains', value: '' } } }] };
  expect((await library.patch(`${path}/${made.body.id}`, bad)).body.error).toMatch(/^categories\[0\]\.logic/);
  expect(await library.all(path)).toEqual([changed.body]);
  expect((await library.delete(`${path}/${made.body.id}`)).body).toEqual({ id: made.body.id, deleted: true });
});

test('consent settings: every purpose is a category of one record, and fields that only a banner shows are refused by name', async () => {
  const account = await plane.newAccount();
  const own = createLibraryClient(plane.baseUrl, account);
  const path = '/consent-settings';
  expect((await own.get(path)).body).toEqual({ entities: [] });
  const made = (await own.post(path)).body;
  expect(made).toMatchObject({
    status: 'Disabled',
    categories: [{ value: 'necessary' }, { value: 'analytics' }, { value: 'advertising', priority: 2 }],
    default: { mode: 'opt_out', categories: [{ value: { enabled: true } }, {}, {}] },
  });
  expect(await own.post(path)).toMatchObject({ status: 409, sent: 1 });
  const at = `${path}/${made.id}`;
  const optIn = {
    ...made.default,
    mode: 'opt_in',
    categories: [
      { key: 'necessary', value: { enabled: true, readOnly: true } },
      { key: 'analytics', value: { enabled: true } },
    ],
  };
  const categories = [
    { value: 'analytics', label: 'What is read', priority: 9 },
    { value: 'necessary', label: 'necessary', priority: 1 },
  ];
  const changed = (await own.patch(at, { status: 'Enabled', categories, default: optIn })).body;
  expect(changed).toMatchObject({
    status: 'Enabled',
    categories: [{ value: 'necessary' }, { value: 'analytics', label: 'What is read' }],
    default: {
      mode: 'opt_in',
      categories: [
        { key: 'necessary', value: { enabled: true, readOnly: true } },
        { key: 'analytics', value: { enabled: false } },
      ],
    },
  });
  const ours = (await account.get('/collections/consentSettings')).body.entities;
  expect(ours).toHaveLength(2);
  expect(ours).toContainEqual(
    expect.objectContaining({
      name: 'analytics',
      isEnabled: true,
      defaultState: 'Denied',
      description: 'What is read',
    }),
  );
  // A reply can be sent back unchanged.
  expect((await own.put(at, changed)).body).toEqual(changed);
  expect((await own.get(path)).body).toEqual({ entities: [changed] });
  for (const [refused, field] of [
    [{ whitelistDomains: ['a.test'] }, /^whitelistDomains: /],
    [{ regions: [{ regionCode: 'DE', rule: optIn }] }, /^regions: /],
    [{ default: { ...optIn, guiOptions: { layout: 'bar' } } }, /^default\.guiOptions: /],
    [
      { default: { ...optIn, translations: [{ language: 'en', value: { consentModal: { title: 'x' } } }] } },
      /consentModal/,
    ],
    [{ default: { ...optIn, categories: [{ key: 'other', value: { enabled: true } }] } }, /names other/],
    [{ categories: [] }, /^categories must not be empty/],
    [{ name: 'Mine' }, /^name /],
  ] as const) {
    const answer = await own.patch(at, refused);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(field);
  }
  expect((await own.patch(`${path}/other`, {})).status).toBe(404);
  expect((await own.delete(at)).body).toEqual(changed);
  expect((await own.get(at)).status).toBe(404);
});

test('mappings: are made from an event or a template, in order, and can be moved; the default mapping is not listed', async () => {
  const of = (await library.post('/destinations', { type: 'HTTPDestination', settings })).body.id as string;
  const event = (await library.post('/allowed-events', { name: 'Sign (up)' })).body.id as string;
  const quick = (await library.post('/mappings', { allowedEventId: event, destinationId: of })).body;
  expect(quick).toMatchObject({
    name: 'Sign (up)',
    destinationId: of,
    mappings: [],
    isDefaultMapping: false,
    priority: 0,
  });
  const logic = { condition: { property: '$event.event', operator: 'Is', value: 'page_view' } };
  const row = { property: 'mail', map: '{{visitor.email}}' };
  const fat = {
    entityId: of,
    templateId: 'event',
    mappings: [row, { ...row, property: 'm2', modification: null }],
    logic,
  };
  const last = (await library.post('/mappings', fat)).body;
  expect(last).toMatchObject({
    priority: 1,
    templateId: 'event',
    logic,
    mappings: [{ ...row, modification: 'None' }, {}],
  });
  const between = (await library.post('/mappings', { entityId: of, templateId: 'event', insertAfterIdx: 0 })).body;
  const order = async (): Promise<readonly string[]> =>
    (await library.all(`/mappings?entityId=${of}&limit=1`)).map(({ id }) => id as string);
  expect(await order()).toEqual([quick.id, between.id, last.id]);
  const moved = await library.post('/mappings/reorder', { uuids: [last.id, quick.id] });
  expect(moved.body.entities).toMatchObject([
    { id: last.id, priority: 0 },
    { id: quick.id, priority: 2 },
  ]);
  expect(await order()).toEqual([last.id, between.id, quick.id]);
  expect((await library.get(`/default-mappings/${of}`)).body).toMatchObject({ id: of, mappings: [], updatedAt: null });
  const put = await library.put(`/default-mappings/${of}`, { mappings: [row] });
  expect(put.body).toMatchObject({ isDefaultMapping: true, isEnabled: true, templateId: 'default', destinationId: of });
  const again = await library.put(`/default-mappings/${of}`, { mappings: [], isEnabled: false });
  expect(again.body).toMatchObject({ id: put.body.id, mappings: [], isEnabled: false });
  expect((await library.get('/default-mappings')).body.entities).toEqual([again.body]);
  expect(await order()).toHaveLength(3);
  expect((await library.patch(`/mappings/${put.body.id}`, { logic })).status).toBe(400);
  const patched = await library.patch(`/mappings/${last.id}`, { isEnabled: false, logic: {}, name: null });
  expect(patched.body).toMatchObject({ isEnabled: false, logic: {}, name: null, mappings: [{}, {}] });
  const { body: rules } = await client.get(`/collections/mappings?destinationId=${of}`);
  expect(rules.entities).toHaveLength(4);
  expect((await library.delete(`/mappings/${between.id}`)).body).toBe(true);
});

test('mappings: an invalid request is refused, and the error names the field', async () => {
  const { body: source } = await library.post('/sources', { type: 'NodejsApi' });
  const refused = async (body: object): Promise<string> => {
    const answer = await library.post('/mappings', body);
    expect(answer.status).toBe(400);
    return answer.body.error as string;
  };
  expect(await refused({})).toMatch(/allowedEventId and destinationId/);
  expect(await refused({ allowedEventId: 'a', templateId: 'event' })).toMatch(/^templateId/);
  expect(await refused({ allowedEventId: 'a', destinationId })).toMatch(/^allowedEventId/);
  expect(await refused({ entityId: source.id, templateId: 'event' })).toMatch(/not part of Sluice/);
  expect(await refused({ entityId: destinationId, templateId: 'nothing' })).toMatch(/^templateId/);
  expect(await refused({ entityId: destinationId, templateId: 'default' })).toMatch(/PUT \/rest\/v1\/default-mappings/);
  expect((await library.get('/mappings')).status).toBe(400);
  expect((await library.get(`/mappings/templates?entityId=${source.id}`)).body).toEqual({ entities: [] });
  expect((await library.get(`/mappings/templates?entityId=${unknownId}`)).status).toBe(404);
  const [first] = (await library.get(`/mappings/templates?entityId=${destinationId}`)).body.entities;
  expect(first).toMatchObject({ id: 'default', isDefault: true });
  expect((await library.get('/mappings/modifications')).body.entities).toContainEqual(
    expect.objectContaining({ value: 'HashedPhone', label: 'Hashed phone' }),
  );
  expect((await library.get('/mappings/default-variables')).body.entities.length).toBeGreaterThan(20);
  expect((await library.post('/mappings/reorder', { uuids: ['nothing'] })).status).toBe(400);
});

test('experiments: are created, published by their start, and rolled out, and have results', async () => {
  const account = await plane.newAccount();
  const own = createLibraryClient(plane.baseUrl, account);
  expect((await own.post('/experiments', { experimentSettingsId: unknownId, name: 'A' })).body.error).toMatch(
    /^experimentSettingsId/,
  );
  const { body: ours } = await own.post('/experiment-settings', { name: 'Tests' });
  expect(ours).toMatchObject({ accountId: account.accountId, name: 'Tests', pixel: expect.stringMatching(/^exp_/) });
  expect(await own.post('/experiment-settings', {})).toMatchObject({ status: 409, sent: 1 });
  expect((await own.get('/experiment-settings')).body.entities).toEqual([ours]);
  const targetingRules = {
    urlPatterns: ['/pricing'],
    queryParams: [{ key: 'beta', operator: 'exists' }],
    audienceId: null,
  };
  const { body: made } = await own.post('/experiments', {
    experimentSettingsId: ours.id,
    name: 'New Headline!',
    trafficAllocation: 80,
    controlWeight: 100,
    targetingRules,
    metrics: { primary: { eventName: 'Purchase' }, secondary: [] },
  });
  expect(made).toMatchObject({
    key: 'new-headline',
    type: 'ab',
    status: 'draft',
    trafficAllocation: 80,
    targetingRules: { urlPatterns: ['/pricing'], queryParams: [{ key: 'beta', operator: 'exists', value: null }] },
    metrics: { primary: { eventName: 'Purchase' } },
    variants: [{ isControl: true, weight: 100 }],
  });
  const path = `/experiments/${made.id}`;
  // Values from a reply can be sent back.
  expect((await own.patch(path, { targetingRules: made.targetingRules, metrics: made.metrics })).body).toMatchObject({
    targetingRules: made.targetingRules,
    metrics: made.metrics,
  });
  for (const [fields, name] of [
    [{ includeQueryString: true }, 'includeQueryString'],
    [{ targetingRules: { visitorStatus: 'new' } }, 'targetingRules.visitorStatus'],
    [{ metrics: { secondary: [{ eventName: 'x' }] } }, 'metrics.secondary'],
  ] as const) {
    expect((await own.patch(path, fields)).body.error).toBe(`${name} is not part of Sluice`);
  }
  expect((await own.post(`${path}/start`, {})).status).toBe(400);
  const treatment = { experimentId: made.id, name: 'B', weight: 40, variantType: 'redirect', redirectUrl: '/b' };
  for (const redirectUrl of [null, undefined]) {
    expect((await own.post('/experiment-variants', { ...treatment, redirectUrl })).status).toBe(400);
  }
  const { body: variant } = await own.post('/experiment-variants', treatment);
  expect(variant).toMatchObject({ variantType: 'redirect', redirectUrl: '/b', weight: 40 });
  expect(await own.post('/experiment-variants', { ...treatment, isControl: true })).toMatchObject({
    status: 409,
    sent: 1,
  });
  const dom = {
    ...treatment,
    redirectUrl: null,
    variantType: 'dom_modifications',
    domModifications: [{ selector: 'h1' }],
  };
  expect((await own.post('/experiment-variants', dom)).body.error).toMatch(/^domModifications/);
  expect((await own.patch(`/experiment-variants/${variant.id}`, { weight: 25 })).body.weight).toBe(25);
  const listed = await own.all(`/experiment-variants?experimentId=${made.id}&limit=1`);
  expect(listed).toMatchObject([{ id: variant.id }, { isControl: true, weight: 75 }]);

  const { body: started } = await own.post(`${path}/start`);
  expect(started).toMatchObject({ publishStatus: 'published', experiment: { status: 'running' } });
  expect(started.concurrentVersionChanges).toBeGreaterThan(0);
  const { jsonContent } = (
    await account.get(`/versions/${(await account.get('/versions?isPublished=true')).body.entities[0].id}/snapshot`)
  ).body;
  expect(jsonContent.experiments).toMatchObject([{ id: made.id, status: 'Running' }]);
  expect((await own.post(`${path}/start`, {})).body.publishStatus).toBe('published');
  expect((await own.post(`${path}/pause`, { publishAfterPause: false })).body.publishStatus).toBe('pending_publish');
  expect((await own.post(`${path}/resume`)).body).toMatchObject({
    publishStatus: 'published',
    experiment: { status: 'running' },
  });
  expect(await own.post(`${path}/rollout`, { variantId: variant.id })).toMatchObject({ status: 409, sent: 1 });

  await plane.storage.fork().execute(
    `insert into experiment_visitors (account_id, experiment_id, visitor_id, variant_id, exposed_at, metric, converted_at)
     select ?, ?, 'v' || n, ?, '2026-01-02', 'Purchase', case when n <= 30 then timestamptz '2026-01-03' end
     from generate_series(1, 100) n`,
    [account.accountId, made.id, variant.id],
  );
  const { variants } = (await own.get(`${path}/results?eventName=Purchase`)).body;
  expect(variants).toContainEqual(
    expect.objectContaining({ id: variant.id, impressions: 100, conversions: 30, conversionRate: 0.3 }),
  );
  expect(
    variants.reduce((sum: number, one: { probabilityToBeBest: number }) => sum + one.probabilityToBeBest, 0),
  ).toBeCloseTo(1, 9);
  expect((await own.get(`${path}/results?eventName=Other`)).status).toBe(400);
  expect((await account.get(`${path}/results`)).body).toMatchObject({ visitors: 100 });
  const { days } = (await own.get(`${path}/results-time-series?startDate=2026-01-02&endDate=2026-01-02`)).body;
  expect(days).toMatchObject([{ date: '2026-01-02' }]);
  expect(days[0].variants).toContainEqual({ id: variant.id, impressions: 100, conversions: 30, conversionRate: 0.3 });
  expect((await own.get(`${path}/results-time-series?startDate=2026-01-03`)).body.days).toEqual([]);

  const stopped = (await own.post(`${path}/stop`, { winnerVariantId: variant.id, rolloutVariantId: variant.id })).body;
  expect(stopped).toMatchObject({
    publishStatus: 'published',
    experiment: {
      status: 'completed',
      winnerVariantId: variant.id,
      rolloutVariantId: variant.id,
      stoppedAt: expect.any(String),
    },
  });
  expect((await own.patch(path, { name: 'Late' })).status).toBe(409);
  expect((await own.post(`${path}/end-rollout`)).body.experiment.rolloutVariantId).toBeNull();
  expect(await own.post(`${path}/end-rollout`)).toMatchObject({ status: 409, sent: 1 });
  expect((await own.post(`${path}/winner`, {})).body).toMatchObject({ id: made.id, winnerVariantId: null });
  expect(await own.all('/experiments?status=completed&search=headline')).toMatchObject([{ id: made.id }]);
  expect(await own.all('/experiments?status=draft')).toEqual([]);
  expect((await own.delete(path)).body).toBe(true);
  expect((await own.get(`/experiment-variants/${variant.id}`)).status).toBe(404);
  expect((await own.delete(`/experiment-settings/${ours.id}`)).body.id).toBe(ours.id);
});

test('scopes: the library’s scope names are accepted for a new key and grant the matching scopes of Sluice', async () => {
  const scopes = ['allowedEvent:list', 'mapping:list', 'globalDispatch:list', 'experiment:find', 'experiment:start'];
  const { body } = await client.post('/keys', { name: 'library', scopes });
  const narrow = createLibraryClient(plane.baseUrl, { ...client, key: body.key });
  for (const path of [
    '/allowed-events',
    '/data-governance',
    '/default-mappings',
    `/experiment-variants?experimentId=${unknownId}`,
  ]) {
    expect((await narrow.get(path)).status).toBe(200);
  }
  expect((await narrow.post('/allowed-events', { name: 'x' })).status).toBe(403);
  expect((await narrow.post(`/experiments/${unknownId}/stop`, {})).status).toBe(403);
  expect((await narrow.post(`/experiments/${unknownId}/start`, {})).status).toBe(404);
  // The right to change an experiment does not include the right to start it.
  const editor = await plane.newKey(client, ['experiments:update']);
  expect((await createLibraryClient(plane.baseUrl, editor).post(`/experiments/${unknownId}/start`, {})).status).toBe(
    403,
  );
});

test('left out: a missing feature is a 404 that names it, and the documents of both interfaces need no key', async () => {
  const answer = await library.post('/funnels', { name: 'x' });
  expect(answer).toMatchObject({ status: 404, sent: 1, body: { error: 'Funnels are not part of Sluice' } });
  const document = async (path: string) =>
    (await (await fetch(`${plane.baseUrl}/rest/v1/${path}`)).json()) as { paths: object };
  const ours = Object.keys((await document('openapi')).paths);
  const theirs = Object.keys((await document('openapi/platform-library')).paths);
  expect(theirs).toEqual(
    expect.arrayContaining(['/rest/v1/versions', '/rest/v1/mappings/{id}', '/rest/v1/experiments/{id}/start']),
  );
  expect(ours).not.toContain('/rest/v1/mappings/{id}');
});
