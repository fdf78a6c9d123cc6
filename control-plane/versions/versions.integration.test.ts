import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispatcherConsumer, eventsOfAccount, eventsSubject } from '../../shared/contracts/subjects.ts';
import { claimConsumer } from '../../shared/nats/consume/consumers.ts';
import { publishWithRetry } from '../../shared/nats/publish/publisher.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const settings = { httpDestinationUrl: 'https://example.com/' };
const addDestination = async (client: Client, name: string): Promise<string> =>
  (await client.post('/destinations', { type: 'HTTPDestination', name, settings })).body.id as string;
const draftDiff = async (client: Client): Promise<{ count: number; differences: Record<string, never> }> =>
  (await client.get('/versions/draft/diff')).body;
const statusOf = async (client: Client, collection: string, id: string): Promise<string | null> =>
  (await client.get(`/versions/draft/status?collection=${collection}&entityId=${id}`)).body.status;

async function startable(client: Client): Promise<string> {
  const { body } = await client.post('/collections/experiments', { name: 'E', key: 'e' });
  const add = (variant: object) =>
    client.post('/collections/experimentVariants', { experimentId: body.id, ...variant });
  await add({ name: 'a', isControl: true });
  await add({ name: 'b', weight: 50 });
  return body.id as string;
}

test('versions: every field is there, null where it has no value yet', async () => {
  const client = await plane.newAccount();
  const { body: version } = await client.post('/versions');
  expect(version).toEqual({
    id: expect.any(String),
    name: 'Version 1',
    versionNumber: 1,
    isPublished: false,
    notes: null,
    createdAt: expect.any(String),
    publishedAt: null,
    publishedByUserId: null,
    publishedByUserName: null,
  });
  const { body: published } = await client.post(`/versions/${version.id}/publish`);
  expect(published).toEqual({
    ...version,
    isPublished: true,
    publishedAt: expect.any(String),
    publishedByUserId: client.keyId,
    publishedByUserName: 'test',
  });
  expect((await client.get(`/versions/${version.id}`)).body).toEqual(published);
  // Publishing the live version again succeeds and changes nothing.
  expect(await client.post(`/versions/${version.id}/publish`)).toMatchObject({ status: 200, body: published });
});

test('versions: PATCH changes name and notes, ignores read-only fields and refuses all other fields', async () => {
  const client = await plane.newAccount();
  const { body: version } = await client.post('/versions', { name: 'One', notes: 'first' });
  const path = `/versions/${version.id}`;
  expect((await client.patch(path, version)).body).toEqual(version);
  const renamed = await client.patch(path, { name: 'Two', versionNumber: 99, isPublished: true });
  expect(renamed.body).toEqual({ ...version, name: 'Two' });
  expect((await client.patch(path, { notes: null })).body).toEqual({ ...version, name: 'Two', notes: null });
  expect((await client.patch(path, { name: null })).status).toBe(400);
  expect((await client.patch(path, { content: {} })).body.error).toBe('content is not a known field');
});

test('versions: create refuses unknown fields, allowlists that are not lists, and bodies that are not objects', async () => {
  const client = await plane.newAccount();
  expect((await client.post('/versions', { includeNothing: [] })).body.error).toMatch(/includeNothing/);
  expect((await client.post('/versions', { includeDestinations: 'all' })).body.error).toMatch(/includeDestinations/);
  expect((await client.post('/versions', { includeDestinations: null, includeSources: [] })).status).toBe(200);
  expect((await client.post('/versions', null)).status).toBe(400);
  expect((await client.post('/versions', [])).status).toBe(400);
});

test('snapshot: the snapshot of a published version never changes, whatever happens to the draft', async () => {
  const client = await plane.newAccount();
  const kept = await addDestination(client, 'kept');
  const gone = await addDestination(client, 'gone');
  const version = await client.publish();
  const path = `/versions/${version.id}/snapshot`;
  const { body: before } = await client.get(path);
  expect(before).toMatchObject({ id: version.id, versionNumber: 1 });
  expect(Object.keys(before.jsonContent).sort()).toEqual([...collectionNames].sort());
  expect(before.jsonContent.destinations.map(({ name }: { name: string }) => name)).toEqual(['kept', 'gone']);
  await client.patch(`/destinations/${kept}`, { name: 'renamed' });
  await client.delete(`/destinations/${gone}`);
  await client.publish();
  expect((await client.get(path)).body).toEqual(before);
});

test('snapshot: text of the draft is stored unchanged, including characters that have a meaning in an SQL query', async () => {
  const client = await plane.newAccount();
  const signs = [
    '?',
    '??',
    '\\?',
    '\\',
    '\\\\',
    "'",
    "''",
    '"',
    '$1',
    ':name',
    ':name:',
    '%s',
    '::jsonb',
    '--',
    '/*',
    '😀',
    '\u2028',
  ];
  const texts = fc
    .array(fc.constantFrom(...signs, 'a', ' b'), { minLength: 1, maxLength: 12 })
    .map((parts) => parts.join(''));
  const id = await addDestination(client, 'first');
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const name = `name ${text}.`;
      const url = `https://example.com/?a=${encodeURIComponent(text)}&b=1?2`;
      await client.patch(`/destinations/${id}`, { name, settings: { httpDestinationUrl: url } });
      const { body: version } = await client.post('/versions');
      const { body } = await client.get(`/versions/${version.id}/snapshot`);
      expect(body.jsonContent.destinations).toMatchObject([{ id, name, settings: { httpDestinationUrl: url } }]);
    }),
    { numRuns: 40 },
  );
});

test('diff and status: follow the draft, and any two versions can be compared', async () => {
  const client = await plane.newAccount();
  const a = await addDestination(client, 'a');
  const b = await addDestination(client, 'b');
  expect(await draftDiff(client)).toMatchObject({ count: 2 });
  const first = await client.publish();
  expect(await draftDiff(client)).toMatchObject({ count: 0 });
  const c = await addDestination(client, 'c');
  await client.patch(`/destinations/${a}`, { name: 'a2' });
  await client.delete(`/destinations/${b}`);
  const { count, differences } = (await client.get('/versions/draft/diff')).body;
  expect(count).toBe(3);
  expect(Object.keys(differences)).toEqual([...collectionNames]);
  const entry = (id: string, name: string) => ({
    id,
    name,
    type: 'HTTPDestination',
    summary: 'Enabled',
    tagManagerId: '',
  });
  expect(differences.destinations).toEqual({
    added: [entry(c, 'c')],
    removed: [entry(b, 'b')],
    modified: [{ old: entry(a, 'a'), new: entry(a, 'a2') }],
  });
  for (const [id, status] of [
    [a, 'modified'],
    [b, 'removed'],
    [c, 'added'],
    ['unknown', null],
  ] as const) {
    expect(await statusOf(client, 'destinations', id)).toBe(status);
  }
  const second = await client.publish();
  const counts = async (path: string): Promise<number> => (await client.get(path)).body.count;
  expect(await counts(`/versions/${first.id}/diff`)).toBe(3);
  expect(await counts(`/versions/${second.id}/diff`)).toBe(0);
  expect(await counts(`/versions/${second.id}/diff?against=${first.id}`)).toBe(3);
  expect(await counts(`/versions/${first.id}/diff?against=draft`)).toBe(3);
  expect(await counts('/versions/draft/diff?against=draft')).toBe(0);
  expect((await client.get('/versions/draft/diff?against=00000000-0000-7000-8000-000000000000')).status).toBe(404);
});

test('publish on create: the version is live at once, with only the changes that the allowlists name', async () => {
  const client = await plane.newAccount();
  const [a, b] = [await addDestination(client, 'a'), await addDestination(client, 'b')];
  const first = await client.post('/versions', { name: 'one', publish: true, includeDestinations: [a] });
  expect(first).toMatchObject({
    status: 200,
    body: { name: 'one', isPublished: true, publishedAt: expect.any(String), publishedByUserId: client.keyId },
  });
  expect(await statusOf(client, 'destinations', a)).toBeNull();
  expect(await statusOf(client, 'destinations', b)).toBe('added');
  const { body: unpublished } = await client.post('/versions', { publish: false });
  expect(unpublished).toMatchObject({ versionNumber: 2, isPublished: false });
  expect((await client.post('/versions', { publish: true })).body).toMatchObject({
    versionNumber: 3,
    isPublished: true,
  });
  expect((await client.get(`/versions/${first.body.id}`)).body.isPublished).toBe(false);
});

test('publish on create: with nothing to publish the answer is a 409 that says not to retry, and no version is created', async () => {
  const client = await plane.newAccount();
  const nothing = {
    status: 409,
    body: { error: 'there is nothing to publish: the version would not differ from the live one' },
    headers: { 'x-should-retry': 'false' },
  };
  expect(await client.post('/versions', { publish: true })).toMatchObject(nothing);
  await addDestination(client, 'a');
  await client.post('/versions', { publish: true });
  expect(await client.post('/versions', { publish: true })).toMatchObject(nothing);
  expect((await client.get('/versions')).body.entities).toHaveLength(1);
  // Only one of ten concurrent requests finds changes to publish.
  await addDestination(client, 'b');
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.post('/versions', { publish: true })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
});

test('publish on create: needs the scope to publish', async () => {
  const client = await plane.newAccount(['version:create', 'destination:create']);
  await addDestination(client, 'a');
  const refused = await client.post('/versions', { publish: true });
  expect(refused).toMatchObject({ status: 403, body: { error: expect.stringMatching(/version:publish/) } });
  expect((await client.post('/versions')).status).toBe(200);
});

test('draft: a change that is reverted by hand no longer counts as a change', async () => {
  const client = await plane.newAccount();
  const id = await addDestination(client, 'same');
  await client.publish();
  await client.patch(`/destinations/${id}`, { name: 'other' });
  await client.patch(`/destinations/${id}`, { name: 'same' });
  expect(await draftDiff(client)).toMatchObject({ count: 0 });
  expect(await statusOf(client, 'destinations', id)).toBeNull();
});

test('revert: the answer counts what the revert did, and a restored entity reads as before', async () => {
  const client = await plane.newAccount();
  const ids = await Promise.all(['modified', 'removed', 'left'].map((name) => addDestination(client, name)));
  const [modified = '', removed = '', left = ''] = ids;
  await client.publish();
  const before = (await client.get(`/destinations/${removed}`)).body;
  await client.patch(`/destinations/${modified}`, { name: 'x', settings: { method: 'PUT' } });
  await client.delete(`/destinations/${removed}`);
  await client.patch(`/destinations/${left}`, { status: 'Disabled' });
  const added = await addDestination(client, 'added');
  const refs = [modified, removed, added, 'nowhere'].map((id) => ({ collection: 'destinations', id }));
  expect((await client.post('/versions/draft/revert', { entities: refs })).body).toEqual({
    revertedCount: 1,
    restoredCount: 1,
    discardedCount: 1,
    notFoundCount: 1,
    remainingChanges: 1,
  });
  expect((await client.get(`/destinations/${removed}`)).body).toEqual(before);
  expect((await client.get(`/destinations/${added}`)).status).toBe(404);
  expect((await client.post('/versions/draft/abandon')).body).toEqual({
    revertedCount: 1,
    restoredCount: 0,
    discardedCount: 0,
    notFoundCount: 0,
    remainingChanges: 0,
  });
  expect(await draftDiff(client)).toMatchObject({ count: 0 });
  for (const entities of [undefined, 'all', [{ collection: 'experiments', id: 'x' }], [{ collection: 'sources' }]]) {
    expect((await client.post('/versions/draft/revert', { entities })).status).toBe(400);
  }
});

test('revert: a source that is restored has the same keys as before', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  await client.publish();
  const { body: tokens } = await client.get(`/sources/${source.id}/tokens`);
  await client.delete(`/sources/${source.id}`);
  expect((await client.get(`/sources/${source.id}/tokens`)).status).toBe(404);
  await client.post('/versions/draft/revert', { entities: [{ collection: 'sources', id: source.id }] });
  expect((await client.get(`/sources/${source.id}/tokens`)).body).toEqual(tokens);
});

test('scoped publishing: only what is listed goes live, tag managers only on request', async () => {
  const client = await plane.newAccount();
  const { body: manager } = await client.post('/collections/tagManagers', { name: 'Web' });
  const tag = async (name: string): Promise<string> =>
    (
      await client.post('/collections/tagManagerTags', {
        name,
        tagManagerId: manager.id,
        type: 'ImagePixel',
        content: 'https://a.test/pixel',
      })
    ).body.id as string;
  const [one, two] = [await tag('one'), await tag('two')];
  const [a, b] = [await addDestination(client, 'a'), await addDestination(client, 'b')];
  await client.publish({ includeDestinations: [a] });
  const remaining = await draftDiff(client);
  expect(remaining.count).toBe(3);
  expect(await statusOf(client, 'destinations', a)).toBeNull();
  expect(await statusOf(client, 'destinations', b)).toBe('added');
  expect(await statusOf(client, 'tagManagers', manager.id)).toBeNull();
  expect(await statusOf(client, 'tagManagerTags', one)).toBe('added');
  await client.publish({ includeTagManagerTags: [two] });
  expect(await statusOf(client, 'tagManagerTags', two)).toBeNull();
  expect(await statusOf(client, 'tagManagerTags', one)).toBe('added');
  expect(await statusOf(client, 'destinations', b)).toBeNull();
});

test('rollback: an older version goes live again, and sources say so', async () => {
  const client = await plane.newAccount();
  const { body: first } = await client.post('/sources', { type: 'NodejsApi' });
  const one = await client.publish();
  const { body: second } = await client.post('/sources', { type: 'WebSource' });
  const isPublished = async (id: string): Promise<boolean> => (await client.get(`/sources/${id}`)).body.isPublished;
  expect([await isPublished(first.id), await isPublished(second.id)]).toEqual([true, false]);
  const two = await client.publish();
  expect(await isPublished(second.id)).toBe(true);
  const { body: back } = await client.post(`/versions/${one.id}/publish`);
  expect(back).toMatchObject({ versionNumber: 1, isPublished: true });
  expect(back.publishedAt >= one.publishedAt).toBe(true);
  expect((await client.get(`/versions/${two.id}`)).body.isPublished).toBe(false);
  expect([await isPublished(first.id), await isPublished(second.id)]).toEqual([true, false]);
  expect(await statusOf(client, 'sources', second.id)).toBe('added');
});

test('experiments: abandoning the draft makes a started experiment a draft again if it was never published', async () => {
  const client = await plane.newAccount();
  const { body: experiment } = await client.post('/collections/experiments', { name: 'Started', key: 'started' });
  const { body: control } = await client.post('/collections/experimentVariants', {
    experimentId: experiment.id,
    name: 'blue',
    isControl: true,
  });
  await client.post('/collections/experimentVariants', { experimentId: experiment.id, name: 'green', weight: 50 });
  expect((await client.post(`/collections/experiments/${experiment.id}/start`)).status).toBe(200);
  const { body } = await client.post('/versions/draft/abandon');
  expect(body).toMatchObject({ discardedCount: 3, remainingChanges: 0 });
  expect((await client.get(`/collections/experiments/${experiment.id}`)).body.status).toBe('Draft');
  expect((await client.get(`/collections/experimentVariants/${control.id}`)).body.isControl).toBe(true);
  expect((await client.post(`/collections/experiments/${experiment.id}/start`)).status).toBe(200);
});

test('experiments: a draft experiment is not published; once started, it is published with its variants', async () => {
  const client = await plane.newAccount();
  const { body: experiment } = await client.post('/collections/experiments', { name: 'Button', key: 'button' });
  const variants = '/collections/experimentVariants';
  await client.post(variants, { experimentId: experiment.id, name: 'blue', isControl: true });
  const { body: variant } = await client.post(variants, { experimentId: experiment.id, name: 'green', weight: 50 });
  expect(await draftDiff(client)).toMatchObject({ count: 0 });
  const empty = await client.publish();
  expect((await client.get(`/versions/${empty.id}/snapshot`)).body.jsonContent.experiments).toEqual([]);
  await client.post(`/collections/experiments/${experiment.id}/start`);
  expect(await draftDiff(client)).toMatchObject({ count: 3 });
  await client.publish();
  await client.post(`/collections/experiments/${experiment.id}/stop`);
  expect((await client.post('/versions/draft/abandon')).body).toMatchObject({ revertedCount: 1, remainingChanges: 0 });
  expect((await client.get(`/collections/experiments/${experiment.id}`)).body.status).toBe('Running');
  expect((await client.get(`/collections/experimentVariants/${variant.id}`)).status).toBe(200);
});

test('publish: a version that would leave events waiting is refused unless forced; the answer says from when they can be replayed', async () => {
  const client = await plane.newAccount();
  const id = await addDestination(client, 'Warehouse');
  const first = await client.publish();
  const events = { stream: streams.events, filterSubject: eventsOfAccount(client.accountId) };
  const settings = { startFrom: 'first', ackWaitMs: 60_000, ackPendingMax: 50 } as const;
  await claimConsumer(plane.log, { ...events, ...settings, name: dispatcherConsumer(id) });
  const payload = Buffer.from('{}');
  const message = { subject: eventsSubject(client.accountId, 0), payload, msgId: id };
  await publishWithRetry(plane.log, message, { timeoutMs: 10_000, attemptsMax: 3 });
  await client.patch(`/destinations/${id}`, { status: 'Disabled' });
  const before = (): Promise<unknown> => client.get('/versions/draft/backlogs').then(({ body }) => body.entities);
  await expect.poll(before).toMatchObject([{ destinationId: id, change: 'disabled', waitingFrames: 1 }]);
  const refused = await client.post('/versions', { publish: true });
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('force') } });
  expect(refused.headers['x-should-retry']).toBe('false');
  expect(refused.body.details).toContain('1 messages wait');
  const { body: version } = await client.post('/versions');
  expect((await client.post(`/versions/${version.id}/publish`)).status).toBe(409);
  const asLibrary = (path: string, body: object = {}) =>
    client.call('POST', path, { headers: { 'x-stainless-lang': 'js' }, body });
  const experiment = await startable(client);
  for (const path of ['/versions', `/versions/${version.id}/publish`, `/experiments/${experiment}/start`])
    expect(await asLibrary(path)).toMatchObject({ status: 409, body: { error: expect.stringContaining('force') } });
  const unpublished = await asLibrary(`/experiments/${experiment}/start`, { publishAfterStart: false });
  expect(unpublished.body.publishStatus).toBe('pending_publish');
  const forced = await client.post(`/versions/${version.id}/publish`, { force: true });
  expect(forced.body.backlogsLeft).toMatchObject([{ destinationId: id, waitingFrames: 1 }]);
  expect(Date.parse(forced.body.backlogsLeft[0].unsentSince)).toBeLessThanOrEqual(Date.now());
  const rollout = await client.get(`/versions/${version.id}/rollout`);
  expect(rollout.body).toMatchObject({
    isLive: true,
    processes: [{ kind: 'gateway', alive: 0 }, { kind: 'pipeline' }],
  });
  expect((await client.get(`/versions/${first.id}/rollout`)).body.isLive).toBe(false);
  expect((await client.post(`/versions/${first.id}/publish`)).status).toBe(200);
  expect((await asLibrary(`/experiments/${experiment}/pause`, { force: true })).body.publishStatus).toBe('published');
  expect((await client.get('/audit?action=version.leave-backlogs')).body.entities).toHaveLength(2);
});

test('publish: a tag manager that pages could not run is refused, and the answer says what is wrong with it', async () => {
  const client = await plane.newAccount();
  const made = async (collection: string, body: object): Promise<string> => {
    const answer = await client.post(`/collections/${collection}`, body);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body.id;
  };
  const [manager, other] = [await made('tagManagers', { name: 'Shop' }), await made('tagManagers', { name: 'Other' })];
  const trigger = await made('tagManagerTriggers', { name: 'All', tagManagerId: other, type: 'PageView' });
  const tag = { tagManagerId: manager, type: 'ImagePixel', content: 'https://a.test/{{Nothing}}' };
  const [unknown, foreign] = [
    await made('tagManagerTags', { name: 'Unknown', ...tag }),
    await made('tagManagerTags', { name: 'Foreign', ...tag, content: 'https://a.test/', triggerIds: [trigger] }),
  ];
  const refused = await client.post('/versions', { publish: true, includeTagManagerTags: [unknown, foreign] });
  expect([refused.status, refused.body.error]).toEqual([
    400,
    'tag manager Shop: tag Unknown: {{Nothing}} is not a variable of its tag manager, so it cannot be published',
  ]);
  expect(refused.body.details).toMatch(/^tag manager Shop: tag Foreign: trigger .* is not one of its tag manager/);
  await client.patch(`/collections/tagManagerTags/${unknown}`, { content: 'https://a.test/' });
  expect((await client.post('/versions', { publish: true, includeTagManagerTags: [unknown] })).status).toBe(200);
});

test('history: keeps when each version was live; a rollback with revertDraft also takes the change out of the draft', async () => {
  const client = await plane.newAccount();
  const kept = await addDestination(client, 'kept');
  const one = await client.publish({ notes: 'the first' });
  const added = await addDestination(client, 'added with a mistake');
  await client.patch(`/destinations/${kept}`, { name: 'renamed' });
  const two = await client.publish();
  await client.patch(`/destinations/${kept}`, { name: 'renamed again' });
  const { body: back } = await client.post(`/versions/${one.id}/publish`, { revertDraft: true });
  expect(back).toMatchObject({
    publishedAt: one.publishedAt,
    draftReverted: { discardedCount: 1, revertedCount: 0, keptCount: 1, remainingChanges: 1 },
  });
  expect((await client.get(`/destinations/${added}`)).status).toBe(404);
  expect((await client.get(`/destinations/${kept}`)).body.name).toBe('renamed again');
  const { body: history } = await client.get('/publications?limit=2');
  const { body: rest } = await client.get(`/publications?limit=2&cursor=${history.pagination.nextCursor}`);
  const [third, second, first] = [...history.entities, ...rest.entities];
  expect(rest.entities).toHaveLength(1);
  expect([first, second, third]).toMatchObject([
    { versionNumber: 1, notes: 'the first', publishedAt: one.publishedAt, endedAt: two.publishedAt },
    { versionNumber: 2, publishedAt: two.publishedAt, endedAt: third.publishedAt, publishedByName: 'test' },
    { versionNumber: 1, endedAt: null, isDeleted: false },
  ]);
  expect(third.publishedAt > one.publishedAt).toBe(true);
  const { body: draft } = await client.get('/versions/draft/changes');
  expect(draft.changes).toMatchObject([{ id: kept, changedBy: 'test', changedAt: expect.any(String) }]);
});

test('approval: no way of publishing avoids an approval, its author cannot approve, and a later change voids it', async () => {
  const client = await plane.newAccount();
  await addDestination(client, 'first');
  const one = await client.publish();
  const second = await plane.newKey(client, ['version:approve', 'version:find', 'version:list']);
  await client.patch('/account', { requiresApproval: true });
  const id = await addDestination(client, 'second');
  const experiment = await startable(client);
  const { body: two } = await client.post('/versions', { name: 'two' });
  const library = { headers: { 'x-stainless-lang': 'js' }, body: {} };
  const refused = [
    await client.post('/versions', { publish: true }),
    await client.post(`/versions/${two.id}/publish`, { force: true }),
    await client.call('POST', '/versions', library),
    await client.call('POST', `/versions/${two.id}/publish`, library),
    await client.call('POST', `/experiments/${experiment}/start`, library),
  ];
  expect(refused.map(({ status, body }) => [status, String(body.error).slice(0, 44)])).toEqual(
    refused.map(() => [409, 'this account publishes approved versions onl']),
  );
  expect((await client.get('/versions')).body.entities).toHaveLength(2);
  const path = `/versions/${two.id}`;
  expect((await second.post(`${path}/approve`)).status).toBe(404);
  expect((await second.post(`${path}/request-approval`)).status).toBe(403);
  const pending = await client.post(`${path}/request-approval`, { comment: 'a second destination' });
  expect(pending.body).toMatchObject({ status: 'pending', comment: 'a second destination', requestedByName: 'test' });
  expect((await client.post(`${path}/approve`)).status).toBe(403);
  expect((await second.post(`${path}/reject`, { comment: 'not today' })).body.status).toBe('rejected');
  expect((await client.post(`${path}/publish`)).status).toBe(409);
  await client.post(`${path}/request-approval`);
  expect((await second.post(`${path}/approve`)).body).toMatchObject({ status: 'approved', decidedById: second.keyId });
  await client.patch(`/destinations/${id}`, { name: 'changed after the approval' });
  expect((await client.post(`${path}/publish`)).body.error).toContain('as the draft changed after the request');
  await client.patch(`/destinations/${id}`, { name: 'second' });
  expect((await client.post(`${path}/publish`)).status).toBe(200);
  // A rollback needs an approval, too, and an earlier approval does not count.
  expect((await client.post(`/versions/${one.id}/publish`)).status).toBe(409);
  await client.post(`/versions/${one.id}/request-approval`);
  await second.post(`/versions/${one.id}/approve`);
  expect((await client.post(`/versions/${one.id}/publish`)).status).toBe(200);
  expect((await client.post(`${path}/publish`)).status).toBe(409);
  const { body: list } = await second.get('/approvals');
  expect(list.entities).toMatchObject([
    { versionNumber: 1, status: 'published' },
    { versionNumber: 2, status: 'published' },
  ]);
  expect((await second.get(`/approvals?versionId=${two.id}`)).body.entities).toHaveLength(1);
});
