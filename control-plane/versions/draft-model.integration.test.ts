import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const settings = { httpDestinationUrl: 'https://example.com/' };

/** How each collection is edited through the API, and the name of its allowlist in a publish. */
const edited = {
  destinations: {
    path: '/destinations',
    list: 'includeDestinations',
    body: (name: string) => ({ type: 'HTTPDestination', name, settings }),
  },
  sources: { path: '/sources', list: 'includeSources', body: (name: string) => ({ type: 'NodejsApi', name }) },
  dataGovernanceEvents: {
    path: '/collections/dataGovernanceEvents',
    list: 'includeDataGovernanceEvents',
    body: (name: string) => ({ name }),
  },
} as const;
type Edited = keyof typeof edited;
const collections = Object.keys(edited) as Edited[];

type Step =
  | { readonly kind: 'add'; readonly collection: Edited }
  | { readonly kind: 'rename' | 'remove'; readonly at: number; readonly name: number }
  | { readonly kind: 'revert'; readonly at: number }
  | { readonly kind: 'publish'; readonly only: Edited | null };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('add' as const), collection: fc.constantFrom(...collections) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('rename' as const, 'remove' as const),
      at: fc.nat(30),
      name: fc.nat(1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revert' as const), at: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), only: fc.constantFrom(null, ...collections) }),
  },
);

/** The expected state: names in the draft and in the live version, by collection and id. */
class Model {
  readonly draft = new Map<string, string>();
  readonly live = new Map<string, string>();

  /** Every entity that was ever created. */
  readonly all: { readonly collection: Edited; readonly id: string }[] = [];

  status(key: string): 'added' | 'modified' | 'removed' | null {
    const [before, after] = [this.live.get(key), this.draft.get(key)];
    if (before === after) return null;
    if (before === undefined) return 'added';
    return after === undefined ? 'removed' : 'modified';
  }

  changes(): string[] {
    const keys = this.all.map(({ collection, id }) => `${collection}/${id}`);
    return keys.filter((key) => this.status(key) !== null).map((key) => `${key} ${this.status(key)}`);
  }
}

async function take(client: Client, model: Model, one: Step, count: number): Promise<void> {
  if (one.kind === 'add') {
    const { path, body } = edited[one.collection];
    const name = `added ${count}`;
    const added = await client.post(path, body(name));
    model.all.push({ collection: one.collection, id: added.body.id as string });
    model.draft.set(`${one.collection}/${added.body.id}`, name);
    return;
  }
  if (one.kind === 'publish') {
    const chosen = one.only === null ? [] : model.all.filter(({ collection }) => collection === one.only);
    const ids = chosen.slice(0, 2).map(({ id }) => id);
    await client.publish(one.only === null ? undefined : { [edited[one.only].list]: ids });
    for (const { collection, id } of model.all) {
      if (collection === one.only && ids.length > 0 && !ids.includes(id)) continue;
      const key = `${collection}/${id}`;
      const name = model.draft.get(key);
      if (name === undefined) model.live.delete(key);
      else model.live.set(key, name);
    }
    return;
  }
  const target = model.all[one.at % Math.max(model.all.length, 1)];
  if (target === undefined) return;
  const key = `${target.collection}/${target.id}`;
  const path = `${edited[target.collection].path}/${target.id}`;
  const isThere = model.draft.has(key);
  if (one.kind === 'rename') {
    const name = `${target.id.slice(-12)} ${one.name}`;
    expect((await client.patch(path, { name })).status).toBe(isThere ? 200 : 404);
    if (isThere) model.draft.set(key, name);
  } else if (one.kind === 'remove') {
    expect((await client.delete(path)).status).toBe(isThere ? 200 : 404);
    model.draft.delete(key);
  } else {
    await client.post('/versions/draft/revert', { entities: [target] });
    const name = model.live.get(key);
    if (name === undefined) model.draft.delete(key);
    else model.draft.set(key, name);
  }
}

async function compare(client: Client, model: Model): Promise<void> {
  const { body } = await client.get('/versions/draft/diff');
  const found: string[] = [];
  for (const collection of collections) {
    const { added, removed, modified } = body.differences[collection];
    for (const { id } of added) found.push(`${collection}/${id} added`);
    for (const { id } of removed) found.push(`${collection}/${id} removed`);
    for (const pair of modified) {
      found.push(`${collection}/${pair.new.id} modified`);
      expect(pair.old.name).toBe(model.live.get(`${collection}/${pair.new.id}`));
      expect(pair.new.name).toBe(model.draft.get(`${collection}/${pair.new.id}`));
    }
  }
  expect(found.sort()).toEqual(model.changes().sort());
  expect(body.count).toBe(found.length);
  for (const { collection, id } of model.all) {
    const { body: one } = await client.get(`/versions/draft/status?collection=${collection}&entityId=${id}`);
    expect(one).toEqual({ collection, id, status: model.status(`${collection}/${id}`) });
  }
}

test('draft: after any sequence of edits, reverts and publishes the history is exact, and abandon undoes the rest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
      const client = await plane.newAccount();
      const model = new Model();
      for (const [index, one] of steps.entries()) await take(client, model, one, index);
      await compare(client, model);
      const left = model.changes().length;
      const { body: undone } = await client.post('/versions/draft/abandon');
      expect(undone.revertedCount + undone.restoredCount + undone.discardedCount).toBe(left);
      expect(undone).toMatchObject({ notFoundCount: 0, remainingChanges: 0 });
      expect((await client.get('/versions/draft/diff')).body.count).toBe(0);
    }),
    { numRuns: 12 },
  );
});

test('unique names: neither a revert nor a scoped version leaves two entities with one name, or two of a single one', async () => {
  const client = await plane.newAccount();
  const add = async (collection: string, body: object): Promise<string> =>
    (await client.post(`/collections/${collection}`, body)).body.id as string;
  const first = await add('consentSettings', { name: 'marketing' });
  const setting = await add('experimentSettings', {});
  await client.publish();
  await client.patch(`/collections/consentSettings/${first}`, { name: 'old' });
  const second = await add('consentSettings', { name: 'marketing' });
  await client.delete(`/collections/experimentSettings/${setting}`);
  const otherSetting = await add('experimentSettings', {});
  const { body: before } = await client.get('/versions/draft/diff');
  for (const [collection, id] of [
    ['consentSettings', first],
    ['experimentSettings', setting],
  ]) {
    const answer = await client.post('/versions/draft/revert', { entities: [{ collection, id }] });
    expect(answer).toMatchObject({ status: 409, body: { error: expect.any(String) } });
  }
  for (const only of [{ includeConsentSettings: [second] }, { includeExperimentSettings: [otherSetting] }]) {
    expect((await client.post('/versions', only)).status).toBe(409);
  }
  expect((await client.get('/versions/draft/diff')).body).toEqual(before);
  const both = [first, second].map((id) => ({ collection: 'consentSettings', id }));
  expect((await client.post('/versions/draft/revert', { entities: both })).status).toBe(200);
  expect((await client.post('/versions/draft/abandon')).body).toMatchObject({ remainingChanges: 0 });
});
