import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { compileTarget } from '../../pipeline/workers/dispatch/compile-target.ts';
import { compileResolvePlan } from '../../pipeline/workers/resolve/resolve-plan.ts';
import { PublishedSources } from '../../gateway/ingest/published-sources.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { publishedDestinations } from '../../shared/routing/published-destinations.ts';
import { compileExperimentPlan } from '../../shared/experiments/experiment-plan.ts';
import { testLiveConfig } from '../../shared/testing/test-account-config.ts';

/** Collections that nothing reads yet: they are stored, versioned and shown, and have no effect. */
const unread: readonly CollectionName[] = [
  'tagManagerTags',
  'tagManagerTriggers',
  'tagManagerVariables',
  'tagManagers',
];

test('collections: each has a reader, or is listed as one without', () => {
  const read = new Set<string>();
  const config = testLiveConfig({
    destinations: [
      { id: 'd', type: 'HTTPDestination', status: 'Enabled', settings: { httpDestinationUrl: 'https://a.b' } },
    ],
  });
  const collections = new Proxy(config.collections, {
    get(target, name, receiver) {
      read.add(String(name));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  const watched = { ...config, collections };
  const secrets = createSecretBox(randomBytes(32).toString('base64'));
  for (const destination of publishedDestinations(watched)) compileTarget(watched, destination, secrets);
  compileResolvePlan(watched);
  const sources = new PublishedSources({ eventsPerS: 1, bytesPerS: 1, burstS: 1 }, () => undefined);
  sources.apply({ accountId: config.accountId, revision: 1, config: watched });
  compileExperimentPlan(watched);
  const others = collectionNames.filter((name) => !read.has(name));
  expect(others.toSorted()).toEqual(unread.toSorted());
});
