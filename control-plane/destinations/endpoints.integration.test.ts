import { afterAll, beforeAll, expect, test } from 'vitest';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;
const settings = { httpDestinationUrl: 'https://example.com/events' };

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

test('create destination: answers with every field, defaults applied', async () => {
  const { status, body } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    type: 'HTTPDestination',
    status: 'Enabled',
    name: null,
    updatedAt: null,
    limitedToSourceIds: null,
    hashingSalt: null,
  });
  expect(body.settings).toMatchObject({ ...settings, method: 'POST' });
  expect(Object.keys(body).sort()).toEqual(
    ['createdAt', 'hashingSalt', 'id', 'limitedToSourceIds', 'name', 'settings', 'status', 'type', 'updatedAt'].sort(),
  );
});

test.each([
  ['no type', {}, /type is required/],
  ['an unknown type', { type: 'Nothing' }, /type must be one of/],
  [
    'a type that is not offered',
    { type: 'BingAdsWeb', settings: {} },
    /BingAdsWeb is not offered: It is a tag that runs in the browser/,
  ],
  ['a kind that is read-only', { type: 'AWSS3' }, /type must be one of/],
  [
    'to be Enabled without a required setting',
    { type: 'HTTPDestination', status: 'Enabled' },
    /settings\.httpDestinationUrl is required/,
  ],
  ['settings that are an array', { type: 'HTTPDestination', settings: [] }, /settings must be an object or null/],
  [
    'an unknown setting',
    { type: 'HTTPDestination', settings: { ...settings, colour: 'red' } },
    /settings\.colour is not a setting of HTTPDestination/,
  ],
  [
    'an option outside the select',
    { type: 'HTTPDestination', settings: { ...settings, method: 'BREW' } },
    /settings\.method must be one of POST/,
  ],
  [
    'a setting of the wrong type',
    { type: 'HTTPDestination', settings: { httpDestinationUrl: 7 } },
    /settings\.httpDestinationUrl must be a string/,
  ],
  [
    'a URL that is none',
    { type: 'HTTPDestination', settings: { httpDestinationUrl: 'nowhere' } },
    /settings\.httpDestinationUrl/,
  ],
  [
    'the mask of a secret that is not stored',
    { type: 'HTTPDestination', settings: { ...settings, headers: '********' } },
    /settings\.headers is the mask/,
  ],
  ['an unknown field', { type: 'HTTPDestination', settings, flavour: 1 }, /flavour is not a known field/],
  ['a name that is too long', { type: 'HTTPDestination', settings, name: 'x'.repeat(10_000) }, /name must be/],
  [
    'a source that is not there',
    { type: 'HTTPDestination', settings, limitedToSourceIds: ['nope'] },
    /limitedToSourceIds names nope/,
  ],
])('create destination: refuses %s', async (_case, body, message) => {
  const answer = await client.post('/destinations', body);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatch(message);
});

test('drafts: a destination without its required settings is Disabled, and can be neither enabled nor published', async () => {
  const account = await plane.newAccount();
  const created = await account.post('/destinations', { type: 'HTTPDestination', name: 'Draft' });
  expect(created).toMatchObject({ status: 200, body: { status: 'Disabled', settings: { method: 'POST' } } });
  const { id } = created.body;
  const path = `/destinations/${id}`;
  // All fields can be changed while a required setting is missing.
  expect((await account.patch(path, { name: 'Still a draft', settings: { method: 'PUT' } })).status).toBe(200);
  const lacking = { status: 400, body: { error: 'settings.httpDestinationUrl is required' } };
  expect(await account.patch(path, { status: 'Enabled' })).toMatchObject(lacking);
  expect(await account.patch(path, { status: 'Enabled', settings: { method: 'POST' } })).toMatchObject(lacking);
  expect(await account.patch(path, { settings: { httpDestinationUrl: 'nowhere' } })).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/settings\.httpDestinationUrl/) },
  });
  expect((await account.post(`${path}/test`)).body.error).toMatch(/settings\.httpDestinationUrl/);
  expect((await account.post('/versions')).body).toMatchObject({
    error: `destination Still a draft (${id}) cannot be published: settings.httpDestinationUrl is required`,
  });
  expect((await account.get('/versions')).body.entities).toEqual([]);
  // Other destinations can be published in the meantime.
  const { body: other } = await account.post('/destinations', { type: 'HTTPDestination', settings });
  expect((await account.publish({ includeDestinations: [other.id] })).isPublished).toBe(true);
  const complete = await account.patch(path, { status: 'Enabled', settings });
  expect(complete).toMatchObject({ status: 200, body: { status: 'Enabled' } });
  expect((await account.publish()).isPublished).toBe(true);
});

test('drafts: an Enabled destination must keep its required settings, a Disabled destination may lose them', async () => {
  const { body: created } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const path = `/destinations/${created.id}`;
  const cleared = { httpDestinationUrl: null };
  expect((await client.patch(path, { settings: cleared })).body.error).toBe('settings.httpDestinationUrl is required');
  expect((await client.patch(path, { settings: null })).status).toBe(400);
  expect((await client.get(path)).body.settings).toMatchObject(settings);
  expect((await client.patch(path, { status: 'Disabled', settings: cleared })).body).toMatchObject({
    status: 'Disabled',
  });
  await client.delete(path);
});

test.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))(
  'drafts: %s can be created with nothing but its type, and completed',
  async (type, kind) => {
    const account = await plane.newAccount();
    const created = await account.post('/destinations', { type });
    expect(created.status).toBe(200);
    const path = `/destinations/${created.body.id}`;
    const lacks = created.body.status === 'Disabled';
    expect((await account.patch(path, { status: 'Enabled' })).status).toBe(lacks ? 400 : 200);
    expect((await account.post('/versions')).status).toBe(lacks ? 400 : 200);
    const complete = await account.patch(path, { status: 'Enabled', settings: kind.exampleSettings });
    expect(complete).toMatchObject({ status: 200, body: { status: 'Enabled' } });
    expect((await account.post('/versions')).status).toBe(200);
  },
);

test('destination secrets: sealed at rest, masked on read, untouched when the mask comes back', async () => {
  const account = await plane.newAccount();
  const secret = JSON.stringify({ 'X-Token': 'very-secret-canary' });
  const created = await account.post('/destinations', {
    type: 'HTTPDestination',
    settings: { ...settings, headers: secret },
  });
  expect(created.body.settings.headers).toBe('********');
  const stored = async (): Promise<string> => {
    const row = await plane.storage.fork().findOneOrFail(ConfigEntity, { id: created.body.id });
    return JSON.stringify(row.body);
  };
  const before = await stored();
  expect(before).not.toContain('canary');
  const path = `/destinations/${created.body.id}`;
  const back = await account.patch(path, created.body);
  expect(back.status).toBe(200);
  expect(back.body).toEqual(created.body);
  expect(await stored()).toBe(before);
  // Sending the same secret again does not count as a change either.
  expect((await account.patch(path, { settings: { headers: secret } })).body.updatedAt).toBeNull();
  const changed = await account.patch(path, { settings: { headers: JSON.stringify({ 'X-Token': 'other-canary' }) } });
  expect(changed.body.settings.headers).toBe('********');
  expect(await stored()).not.toBe(before);
  const version = await account.publish();
  const snapshot = await account.get(`/versions/${version.id}/snapshot`);
  expect(JSON.stringify(snapshot.body)).not.toMatch(/canary|enc:v1/);
});

test('patch destination: changes the fields that are sent, clears the fields that are null, and leaves the rest', async () => {
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const created = await client.post('/destinations', {
    type: 'HTTPDestination',
    name: 'One',
    settings: { ...settings, method: 'PUT', headers: '{"A":"b"}' },
    limitedToSourceIds: [source.id],
    hashingSalt: 'salt',
  });
  const path = `/destinations/${created.body.id}`;
  const disabled = await client.patch(path, { status: 'Disabled' });
  expect(disabled.body).toEqual({ ...created.body, status: 'Disabled', updatedAt: disabled.body.updatedAt });
  expect(disabled.body.updatedAt).not.toBeNull();
  const cleared = await client.patch(path, {
    name: null,
    hashingSalt: null,
    limitedToSourceIds: null,
    status: null,
    settings: { headers: null, method: null },
  });
  expect(cleared.body).toMatchObject({ name: null, hashingSalt: null, limitedToSourceIds: null, status: 'Disabled' });
  // A cleared setting gets its default.
  expect(cleared.body.settings).toMatchObject({ ...settings, method: 'POST' });
  expect(cleared.body.settings).not.toHaveProperty('headers');
  const refused = await client.patch(path, { status: 'Enabled', settings: { httpDestinationUrl: null } });
  expect([refused.status, refused.body.error]).toEqual([400, 'settings.httpDestinationUrl is required']);
  expect((await client.patch(path, { nmae: 'x' })).body.error).toBe('nmae is not a known field');
  expect((await client.patch(path, { status: 'Off' })).status).toBe(400);
  expect((await client.get(path)).body).toEqual(cleared.body);
});

test('patch destination: read-only fields are ignored, whatever their values', async () => {
  const { body: created } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const answer = await client.patch(`/destinations/${created.id}`, {
    id: 7,
    type: 'Klaviyo',
    createdAt: null,
    updatedAt: 'never',
  });
  expect(answer.body).toEqual(created);
});

test('delete destination: answers true once, then 404', async () => {
  const { body: created } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const path = `/destinations/${created.id}`;
  expect(await client.delete(path)).toMatchObject({ status: 200, body: true });
  expect((await client.delete(path)).status).toBe(404);
  expect((await client.get(path)).status).toBe(404);
  expect((await client.patch(path, { name: 'x' })).status).toBe(404);
  expect((await client.get(`${path}/health`)).status).toBe(404);
});

test('a destination that is limited to a deleted source can still be written back unchanged', async () => {
  const { body: source } = await client.post('/sources', { type: 'WebSource' });
  const { body: created } = await client.post('/destinations', {
    type: 'HTTPDestination',
    settings,
    limitedToSourceIds: [source.id],
  });
  expect((await client.delete(`/sources/${source.id}`)).body).toEqual({ deleted: true });
  expect((await client.patch(`/destinations/${created.id}`, created)).status).toBe(200);
});

test('destination types: the same for every key, each with all its fields', async () => {
  const other = await plane.newAccount(['destination:list']);
  const mine = await client.get('/destinations/types');
  expect(mine.status).toBe(200);
  expect(mine.body.entities.map(({ id }: { id: string }) => id)).toContain('HTTPDestination');
  expect((await other.get('/destinations/types')).body).toEqual(mine.body);
});

test('unavailable destination types: each type has a reason and cannot be created', async () => {
  const { status, body } = await client.get('/destinations/types/unavailable');
  expect(status).toBe(200);
  const types = await client.get('/destinations/types');
  const offered = types.body.entities.map(({ id }: { id: string }) => id);
  expect(body.entities.length).toBeGreaterThan(0);
  for (const { id, reason } of body.entities as { id: string; reason: string }[]) {
    expect(offered).not.toContain(id);
    expect(reason).not.toBe('');
    expect((await client.post('/destinations', { type: id, settings: {} })).status).toBe(400);
  }
});

test('list destinations: filters by status and type', async () => {
  const own = await plane.newAccount();
  const { body: first } = await own.post('/destinations', { type: 'HTTPDestination', settings });
  const { body: second } = await own.post('/destinations', { type: 'HTTPDestination', settings });
  await own.patch(`/destinations/${first.id}`, { status: 'Disabled' });
  const ids = async (query: string): Promise<string[]> =>
    (await own.get(`/destinations${query}`)).body.entities.map(({ id }: { id: string }) => id);
  expect(await ids('')).toEqual([second.id, first.id]);
  expect(await ids('?status=Disabled')).toEqual([first.id]);
  expect(await ids('?type=HTTPDestination&status=Enabled')).toEqual([second.id]);
  expect(await ids('?type=Klaviyo')).toEqual([]);
  expect(await ids('?type=AWSS3')).toEqual([]);
  expect((await own.get('/destinations?status=On')).status).toBe(400);
  expect((await own.get('/destinations?type=Nope')).status).toBe(400);
});

test('standard events: each event is shown as sent without a mapping, with the settings of the draft and without any secret', async () => {
  const { body: made } = await client.post('/destinations', {
    type: 'SnapchatAdsCapi',
    settings: {
      pixelId: '1ec32188-754e-4be2-8e55-c949a984a39f',
      accessToken: 'a-real-token',
      otherEvents: 'CUSTOM_EVENT_3',
    },
  });
  const { status, body } = await client.get(`/destinations/${made.id}/standard-events`);
  expect(status).toBe(200);
  const byLabel = new Map(body.entities.map((one: { label: string }) => [one.label, one]));
  expect(byLabel.get('Order Completed')).toMatchObject({ outcome: 'sent', name: 'PURCHASE', reason: null });
  expect(byLabel.get('Contacted')).toMatchObject({
    outcome: 'sent',
    requests: [{ body: expect.stringContaining('CUSTOM_EVENT_3') }],
  });
  expect(byLabel.get('alias')).toMatchObject({ outcome: 'skipped', reason: expect.stringMatching(/\S/), requests: [] });
  expect(JSON.stringify(body)).not.toContain('a-real-token');
  // Required settings that are not set get example values.
  const { body: bare } = await client.post('/destinations', { type: 'Braze', status: 'Disabled' });
  const { body: ofBare } = await client.get(`/destinations/${bare.id}/standard-events`);
  expect(ofBare.entities.filter(({ outcome }: { outcome: string }) => outcome === 'sent').length).toBeGreaterThan(20);
});

test.each(destinationKinds.map(({ descriptor }) => descriptor.id))(
  'standard events: %s shows its own',
  async (type) => {
    const { body: made } = await client.post('/destinations', { type, status: 'Disabled' });
    const { status, body } = await client.get(`/destinations/${made.id}/standard-events`);
    expect([type, status]).toEqual([type, 200]);
    expect(body.entities.length).toBeGreaterThan(30);
  },
);
