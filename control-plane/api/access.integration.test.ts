import pLimit from 'p-limit';
import type { Pool } from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStateOfAccount } from '../../shared/testing/state-of-account.ts';
import type { StateOfAccount } from '../../shared/testing/state-of-account.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { grantableNames } from '../keys/scopes.ts';
import type { Client } from '../testing/client.ts';
import { fillAccount } from '../testing/fill-account.ts';
import type { FilledIds } from '../testing/fill-account.ts';
import { beyondAll, publicRoutes, routeTable, widerScopes } from '../testing/route-table.ts';
import type { TableRoute } from '../testing/route-table.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let pool: Pool;
let owner: Client;
let ids: FilledIds;
/** A client of another account that has the same entities. */
let other: Client;
let otherIds: FilledIds;
/** A client of an account without entities. */
let stranger: Client;

beforeAll(async () => {
  plane = await startTestControlPlane({ ADDRESS_REFUSED_KEYS_BURST: 10_000 });
  pool = openTestPool(plane.databaseUrl, 2);
  owner = await plane.newAccount();
  other = await plane.newAccount();
  stranger = await plane.newAccount();
  ids = await fillAccount(plane, owner, pool);
  otherIds = await fillAccount(plane, other, pool);
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

const withIds = (text: string, from: FilledIds): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = from[name];
    if (id === undefined) throw new Error(`the filled account has no ${name}`);
    return id;
  });
const describe = ({ method, path, asLibrary }: TableRoute): string =>
  `${method} ${path}${asLibrary ? ' of the library' : ''}`;
/** Whether a route's path names an entity. Ids in a query have a separate test. */
const hasId = ({ path }: TableRoute): boolean => path.replace(/\?.*/, '').includes('{');

/** The status that a route returns for a key. The body of a stream is not read. */
async function statusOf(route: TableRoute, key: string | undefined, from: FilledIds = ids): Promise<number> {
  const left = new AbortController();
  const { statusCode, body } = await request(`${plane.baseUrl}/rest/v1${withIds(route.path, from)}`, {
    method: route.method,
    signal: left.signal,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(route.asLibrary ? { 'x-stainless-lang': 'js' } : {}),
      ...(route.method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    ...(route.method === 'GET' ? {} : { body: withIds(JSON.stringify(route.body), from) }),
  });
  if (statusCode === 200 && route.streams) {
    body.on('error', () => undefined);
    left.abort();
  } else await body.dump();
  return statusCode;
}

const atOnce = pLimit(16);

/** The results of `ask` by route name, so that one comparison shows every difference. */
function statuses(
  routes: readonly TableRoute[],
  ask: (route: TableRoute) => Promise<unknown>,
): Promise<readonly string[]> {
  return Promise.all(routes.map((route) => atOnce(async () => `${String(await ask(route))} ${describe(route)}`)));
}

const all = (status: number | string, routes: readonly TableRoute[]): readonly string[] =>
  routes.map((route) => `${status} ${describe(route)}`);

const keys = new Map<string, Promise<string>>();
/** A key of a client's account with exactly these scopes. Calls with the same scopes share a key. */
function keyWith(client: Client, scopes: readonly string[]): Promise<string> {
  const name = [client.accountId, ...scopes].join(' ');
  let key = keys.get(name);
  if (key === undefined) keys.set(name, (key = plane.newKey(client, scopes).then((made) => made.key)));
  return key;
}

const stateOfOwner = (): Promise<StateOfAccount> =>
  readStateOfAccount({ pool, log: plane.log }, owner.accountId, [ids['destination'] ?? '']);

/**
 * Tables and streams without data of the account: only gateways and pipelines write them, or they belong to no account.
 */
const withoutAccount = [
  'CANARY',
  'DEDUPLICATION',
  'EVENTS',
  'INGEST',
  'INGEST_DEAD_LETTERS',
  'KV_HEALTH',
  'KV_LEASES',
  'KV_POSITIONS',
  'KV_TOKENS',
  'RETRY',
  'WITHDRAWALS',
];

test('access: the table has every route that the descriptions and the router have, and no other', async () => {
  const inTable = routeTable.map(({ method, path, asLibrary }) => {
    return `${asLibrary ? 'library ' : ''}${method} /rest/v1${path.replace(/\?.*/, '').replaceAll(/\{\w+\}/g, '{}')}`;
  });
  expect(new Set(inTable).size).toBe(inTable.length);
  const described: string[] = [];
  for (const name of ['', '/platform-library']) {
    const answer = await fetch(`${plane.baseUrl}/rest/v1/openapi${name}`);
    const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
    for (const [path, methods] of Object.entries(paths)) {
      const form = path.replaceAll(/\{\w+\}/g, '{}');
      for (const method of Object.keys(methods)) described.push(`${name} ${method.toUpperCase()} ${form}`);
    }
  }
  const own = new Set(described.filter((line) => line.startsWith(' ')).map((line) => line.trim()));
  // At an address that both documents describe, requests of the library get a different form of answer.
  const ofLibrary = described
    .filter((line) => !line.startsWith(' '))
    .map((line) => line.split(' ').slice(1).join(' '))
    .map((line) => (own.has(line) ? `library ${line}` : line));
  const isPublic = (line: string): boolean => publicRoutes.includes(line);
  expect([...own, ...ofLibrary].filter((line) => !isPublic(line)).toSorted()).toEqual(inTable.toSorted());

  const router = [...(await plane.metrics()).matchAll(/route="([^"]+)",method="(\w+)"/g)].map(
    ([, path = '', method = '']) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`,
  );
  const known = [...inTable.map((line) => line.replace('library ', '')), ...publicRoutes];
  expect([...new Set(router)].toSorted()).toEqual([...new Set(known)].toSorted());
});

test('access: requests without a key, or with an expired, revoked or scopeless key, are refused', async () => {
  expect(await statuses(routeTable, (route) => statusOf(route, undefined))).toEqual(all(401, routeTable));
  const expired = await plane.newKey(owner, ['all', ...beyondAll], new Date(Date.now() - 1_000));
  expect(await statuses(routeTable, (route) => statusOf(route, expired.key))).toEqual(all(401, routeTable));
  const revoked = await plane.newKey(owner, ['all', ...beyondAll]);
  await owner.delete(`/keys/${revoked.keyId}`);
  expect(await statuses(routeTable, (route) => statusOf(route, revoked.key))).toEqual(all(401, routeTable));
  const scoped = routeTable.filter(({ scope }) => scope !== undefined);
  const empty = await keyWith(owner, []);
  expect(await statuses(scoped, (route) => statusOf(route, empty))).toEqual(all(403, scoped));
});

test('access: a key is refused if it has every scope except the scope that a route names and the scopes that include that', async () => {
  const scoped = routeTable.filter(({ scope }) => scope !== undefined);
  const others = (scope = ''): readonly string[] => {
    const enough = [scope, ...(widerScopes[scope] ?? []), ...(beyondAll.includes(scope) ? [] : ['all'])];
    return [...grantableNames, 'all'].filter((name) => !enough.includes(name));
  };
  const found = await statuses(scoped, async (route) => statusOf(route, await keyWith(owner, others(route.scope))));
  expect(found).toEqual(all(403, scoped));
});

test("access: another account's ids are 404 for exactly the right scope, and nothing of that account changes", async () => {
  const routes = routeTable.filter(hasId);
  const before = await stateOfOwner();
  const empty = Object.entries(before).flatMap(([place, rows]) => (rows.length === 0 ? [place] : []));
  expect(empty).toEqual(withoutAccount);
  const found = await statuses(routes, async (route) => {
    return statusOf(route, await keyWith(stranger, [route.scope ?? 'all']));
  });
  expect(found).toEqual(all(404, routes));
  expect(await stateOfOwner()).toEqual(before);
});

test("access: another account's ids in a query or a body are unknown, and nothing of that account changes", async () => {
  const before = await stateOfOwner();
  const { destination, source, version, experiments, experimentVariants, tagManagers } = ids;
  const ask = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> => {
    const answer = await other.call(method, path, body === undefined ? {} : { body });
    return answer.status === 200 ? (answer.body.entities ?? answer.body) : answer.status;
  };
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const limited = { type: 'HTTPDestination', settings, limitedToSourceIds: [source] };
  expect(await ask('POST', '/destinations', limited)).toBe(400);
  expect(await ask('POST', '/collections/mappings', { name: 'x', destinationId: destination })).toBe(400);
  expect(await ask('POST', '/collections/allowedEvents', { name: 'x', destinationIds: [destination] })).toBe(400);
  expect(await ask('POST', '/collections/consentSettings', { name: 'x', destinationIds: [destination] })).toBe(400);
  expect(await ask('POST', '/collections/tagManagers', { name: 'x', sourceId: source })).toBe(400);
  const tag = { name: 'x', tagManagerId: tagManagers, type: 'CustomScript' };
  expect(await ask('POST', '/collections/tagManagerTags', tag)).toBe(400);
  const variant = { name: 'x', experimentId: experiments, weight: 1 };
  expect(await ask('POST', '/collections/experimentVariants', variant)).toBe(400);
  expect(await ask('POST', '/experiment-variants', { name: 'x', experimentId: experiments })).toBe(400);
  expect(
    await ask('POST', `/collections/experiments/${otherIds['experiments']}/rollout`, { variantId: experimentVariants }),
  ).toBe(400);
  expect(await ask('POST', '/mappings', { entityId: destination, templateId: 'event' })).toBe(400);
  expect(await ask('GET', `/mappings?entityId=${destination}`)).toEqual([]);
  expect(await ask('GET', `/mappings/templates?entityId=${destination}`)).toBe(404);
  expect(await ask('GET', `/mappings/templates?entityId=${source}`)).toBe(404);
  expect(await ask('GET', `/versions/draft/diff?against=${version}`)).toBe(404);
  expect(await ask('POST', '/sign-in-links', { key: owner.key })).toBe(400);
  expect(await ask('POST', '/sign-in-links', { userId: ids['user'] })).toBe(400);
  // A key's public part identifies the key, too.
  expect((await other.delete(`/keys/${owner.key.split('_')[1]}`)).status).toBe(404);
  const entities = [{ collection: 'destinations', id: destination }];
  expect(await ask('POST', '/versions/draft/revert', { entities })).toMatchObject({ notFoundCount: 1 });
  expect(await ask('POST', `/visitors/${otherIds['person']}/merge`, { visitorId: 'nobody' })).toBe(404);
  expect(await ask('POST', `/visitors/${otherIds['person']}/split`, { mergeId: ids['merge'] })).toBe(404);
  for (const what of ['release', 'delete']) {
    const answer = await other.post(`/quarantine/${what}`, { ids: [ids['quarantined']] });
    expect(answer.body).toMatchObject({ [what === 'release' ? 'released' : 'deleted']: 0 });
  }
  expect(await stateOfOwner()).toEqual(before);
});

test('access: the lists of a new account are empty, whatever other accounts have', async () => {
  const fresh = await plane.newAccount();
  // Not empty: an account has its own key, and the audit of what that key has done.
  const itsOwn = ['/keys', '/audit'];
  const lists = routeTable.filter((route) => route.method === 'GET' && !route.path.includes('{'));
  for (const { path, streams } of lists) {
    if (streams) continue;
    const { status, body } = await fresh.get(path);
    expect([path, status]).toEqual([path, path.startsWith('/system') ? 403 : 200]);
    if (!itsOwn.includes(path)) expect(JSON.stringify(body)).not.toContain(owner.accountId);
    for (const id of [ids['destination'], ids['source'], ids['version'], ids['experiments'], ids['key']]) {
      expect([path, JSON.stringify(body).includes(id ?? '')]).toEqual([path, false]);
    }
  }
});

test('access: a key with only the scope that a route names is accepted, and the entity is found', async () => {
  const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const rank = ({ method, path }: TableRoute): number =>
    // Parts (variants, dead letters, sessions) come first: a part is deleted before its whole.
    order.indexOf(method) - (/Variants|variants|dead-letters|sessions/.test(path) ? 0.5 : 0);
  const routes = routeTable.toSorted((a, b) => rank(a) - rank(b));
  const opened: string[] = [];
  for (const route of routes) {
    // Some entities can be deleted at two addresses, the collection's and the library's: each deletes its own.
    const [client, from] = route.path.startsWith('/collections') ? [other, otherIds] : [owner, ids];
    const status = await statusOf(route, await keyWith(client, [route.scope ?? 'event:list']), from);
    const isOpen = ![401, 403, 404].includes(status) && (route.method !== 'GET' || status === 200);
    opened.push(`${isOpen ? 'opened' : status} ${describe(route)}`);
  }
  expect(opened).toEqual(all('opened', routes));
});
