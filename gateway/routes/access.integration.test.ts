import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import { readGatewayEnv } from '../env.ts';
import { ingestTable, openRoutes } from '../testing/ingest-table.ts';
import type { IngestRoute, SortOfSource } from '../testing/ingest-table.ts';
import { until } from '../../shared/testing/until.ts';
import { startRouteRig } from '../testing/route-rig.ts';
import type { RouteRig } from '../testing/route-rig.ts';
import { createRoutes } from './registry.ts';
import type { RoutesOptions } from './registry.ts';
import { createUnpackingLimit, readRoutesSettings } from './routes-settings.ts';

let rig: RouteRig;

const sources = {
  server: { id: 'same-server', name: 'Same', type: 'WebSource', status: 'Enabled' },
  link: { id: 'same-link', name: 'Same', type: 'RedirectSource', status: 'Enabled', redirectUrl: 'https://e.test/' },
  hook: { id: 'same-hook', name: 'Same', type: 'Webhook', status: 'Enabled' },
} as const;
const accounts = ['twin-one', 'twin-two'] as const;
type State = 'live' | 'disabled' | 'unpublished';
const keyOf = (account: string, sort: SortOfSource, state: State | 'unknown' = 'live'): string =>
  `src_live_${account}_${sort}_${state}_0123456789`;

/** Publishes an account's sources and, for each of them, a disabled one. The ids are the same in each account. */
async function publishAccount(accountId: string): Promise<void> {
  const buckets = await openBuckets(rig.log.connection, 1);
  const live = Object.values(sources);
  const disabled = live.map((source) => ({ ...source, id: `${source.id}-disabled`, status: 'Disabled' }));
  const keys = (['server', 'link', 'hook'] as const).flatMap((sort) => [
    { keyHash: hashSourceKey(keyOf(accountId, sort)), sourceId: sources[sort].id, test: false },
    {
      keyHash: hashSourceKey(keyOf(accountId, sort, 'disabled')),
      sourceId: `${sources[sort].id}-disabled`,
      test: false,
    },
    // Its source was deleted.
    { keyHash: hashSourceKey(keyOf(accountId, sort, 'unpublished')), sourceId: 'deleted', test: false },
  ]);
  const document = testAccountConfig({ sources: [...live, ...disabled] }, { accountId, sourceKeys: keys });
  await putAccountConfig(buckets, document);
}

beforeAll(async () => {
  rig = await startRouteRig();
  for (const account of accounts) await publishAccount(account);
  const [track] = ingestTable;
  for (const account of accounts) {
    await until('the account is followed', async () => {
      return track !== undefined && (await statusOf(track, keyOf(account, 'server'))) === 200;
    });
  }
});
afterAll(() => rig.stop());

async function statusOf(route: IngestRoute, key: string): Promise<number> {
  const fill = (text: string): string => text.replaceAll('KEY', key).replaceAll('ID', randomUUID());
  const answer = await fetch(`${rig.gateway.url}${fill(route.path)}`, {
    method: route.route.split(' ')[0] ?? '',
    headers: route.headers,
    redirect: 'manual',
    ...(route.body === undefined ? {} : { body: fill(route.body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

test('ingest access: the table has every route of the router, and no other', () => {
  const env = readGatewayEnv({});
  const settings = readRoutesSettings(env, 1, 8 * 1024 ** 2, createUnpackingLimit());
  const { routes } = createRoutes({
    admission: {},
    sources: {},
    commit: {},
    experiments: {},
    isSecure: false,
    ...settings,
  } as unknown as RoutesOptions);
  const router = routes.flatMap(({ method, paths }) => paths.map((path) => `${method.toUpperCase()} ${path}`));
  const known = [...ingestTable.map(({ route }) => route), ...openRoutes];
  expect(known.toSorted()).toEqual(router.toSorted());
});

test('ingest access: an unknown key and the keys of disabled or deleted sources are refused on every route and store nothing', async () => {
  const before = (await rig.log.envelopes()).length;
  const found: string[] = [];
  for (const route of ingestTable) {
    for (const state of ['unknown', 'disabled', 'unpublished'] as const) {
      found.push(`${route.route} ${state} ${await statusOf(route, keyOf(accounts[0], route.sort, state))}`);
    }
  }
  expect(found).toEqual(
    ingestTable.flatMap(({ route, refused }) =>
      ['unknown', 'disabled', 'unpublished'].map((state) => `${route} ${state} ${refused}`),
    ),
  );
  expect(await rig.log.envelopes()).toHaveLength(before);
});

test('ingest access: a key stores events in its own account, and the log never contains a key, whichever route was used', async () => {
  for (const account of accounts) {
    const before = (await rig.log.envelopes()).length;
    const found: string[] = [];
    for (const route of ingestTable) found.push(`${route.route} ${await statusOf(route, keyOf(account, route.sort))}`);
    expect(found).toEqual(ingestTable.map(({ route, accepted }) => `${route} ${accepted}`));
    const stored = (await rig.log.envelopes())
      .slice(before)
      .map((envelope) => `${envelope.account} ${envelope.source}`);
    const storing = ingestTable.filter(({ stores }) => stores);
    expect(stored).toEqual(storing.map(({ sort }) => `${account} ${sources[sort].id}`));
  }
  const raw = await rig.log.rawFrames();
  const keys = accounts.flatMap((account) => [
    keyOf(account, 'server'),
    keyOf(account, 'link'),
    keyOf(account, 'hook'),
  ]);
  expect(keys.filter((key) => raw.includes(key))).toEqual([]);
});
