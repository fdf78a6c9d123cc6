import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { PublishedSources } from '../../../gateway/ingest/published-sources.ts';
import { compileResolvePlan } from '../../../pipeline/workers/resolve/resolve-plan.ts';
import { collectionNames } from '../../../shared/collections/registry.ts';
import type { CollectionName } from '../../../shared/collections/registry.ts';
import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { hashSourceKey } from '../../../shared/contracts/config/account-config.ts';
import type { SnapshotEntity } from '../../../shared/contracts/config/account-config.ts';
import { readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { headOf } from '../../../shared/contracts/events/resolved-event.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { compileExperimentPlan } from '../../../shared/experiments/experiment-plan.ts';
import { configForTests } from '../../../shared/experiments/testing/config-for-tests.ts';
import { compileAllowedData } from '../../../shared/routing/allowed-data.ts';
import { compileDispatchPlan } from '../../../shared/routing/dispatch-plan.ts';
import { publishedDestinations } from '../../../shared/routing/published-destinations.ts';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import type { TestCollections } from '../../../shared/testing/test-account-config.ts';
import { containersOfSources } from '../../../shared/web-snippet/tags/compile-container.ts';

type Reader = {
  /** The file that reads the collection. */
  readonly file: string;
  /** A result of that file that depends on the collection. */
  readonly effect: (config: LiveConfig) => unknown;
  /** An entity that changes the result of `effect`. */
  readonly entity: SnapshotEntity;
  /** Other entities that `entity` needs. */
  readonly beside?: TestCollections;
};

const event = sampleEvent({ event: 'Bought', event_properties: { total: 1, ssn: '1' } });
const destination = {
  id: 'd',
  type: 'HTTPDestination',
  status: 'Enabled',
  settings: { httpDestinationUrl: 'https://a.b' },
};
const source = { id: 's', type: 'WebSource', status: 'Enabled' };
const always = { condition: { property: 'event.event', operator: 'Is', value: 'Bought' } };
const manager = { id: 'm', name: 'M', status: 'Enabled', sourceId: 's' };
const trigger = { id: 't', name: 'T', tagManagerId: 'm', type: 'PageView' };
const variable = { id: 'v', name: 'V', tagManagerId: 'm', type: 'Constant', value: '1' };
const tag = {
  id: 'g',
  name: 'G',
  tagManagerId: 'm',
  type: 'ImagePixel',
  content: 'https://a.b/{{V}}',
  triggerIds: ['t'],
};
const rule = { id: 'r', name: 'R', type: 'Forbidden', property: 'event_properties.ssn', action: 'Omit' };

const { experiments: all, experimentVariants } = configForTests([{ id: 'e' }]).collections;
const running = { experiments: all, experimentVariants };
const experiment = all[0] ?? { id: '' };
const [control = { id: '' }, ...variants] = experimentVariants;

const decide = (config: LiveConfig): unknown => {
  const [published] = publishedDestinations(config);
  return (
    published &&
    compileDispatchPlan(config, published, { namesElsewhere: [], consentTypes: [] }).decide(headOf(event), event)
  );
};
const gateway = (config: LiveConfig) => {
  const sources = new PublishedSources({ eventsPerS: 1, bytesPerS: 1, burstS: 1 }, () => undefined);
  sources.apply({ accountId: config.accountId, revision: 1, config });
  return sources.byToken('key');
};
const container = (config: LiveConfig): unknown => gateway(config)?.tags?.containerOf('s', containersOfSources)?.json;
const plan = (config: LiveConfig): unknown => {
  const envelope = { v: 1, account: 'a', source: 's', at: 1, kind: 'track', id: 'i' };
  const body = { event: 'Bought', eventProperties: { total: 1, ssn: '1' } };
  return compileResolvePlan(config).trackingPlan?.judge('Bought', readEnvelope(JSON.stringify({ ...envelope, body })));
};
const experiments = (config: LiveConfig): unknown => {
  const { byKey, tokens, unplanned } = compileExperimentPlan(config);
  return [[...byKey.keys()], tokens.size, unplanned];
};

const dispatchPlan = 'shared/routing/dispatch-plan.ts';
const resolvePlan = 'pipeline/workers/resolve/resolve-plan.ts';
const sourcesOfGateway = 'gateway/ingest/published-sources.ts';
const containers = 'shared/web-snippet/tags/compile-container.ts';
const experimentPlan = 'shared/experiments/experiment-plan.ts';

/** For each collection: what reads it, and an entity that changes the reader's result. */
const readers: Readonly<Record<CollectionName, Reader>> = {
  destinations: {
    file: 'shared/routing/published-destinations.ts',
    effect: publishedDestinations,
    entity: destination,
  },
  sources: { file: sourcesOfGateway, effect: (config) => gateway(config)?.sourceId, entity: source },
  allowedEvents: {
    file: resolvePlan,
    effect: (config) => compileResolvePlan(config).allows('Bought'),
    entity: { id: 'a', name: 'Other', destinationIds: ['d'] },
  },
  externalAllowedEventData: {
    file: 'pipeline/workers/dispatch/compile-target.ts',
    effect: ({ collections }) =>
      compileAllowedData(collections.externalAllowedEventData)?.('Bought', { total: 1, ssn: '1' }),
    entity: { id: 'x', name: 'Bought', properties: ['total'] },
  },
  mappings: {
    file: dispatchPlan,
    effect: decide,
    entity: { id: 'm', destinationId: 'd', priority: 1, isEnabled: true, logic: null, action: 'stop' },
    beside: { destinations: [destination] },
  },
  consentSettings: {
    file: dispatchPlan,
    effect: decide,
    entity: { id: 'ads', name: 'ads', isEnabled: true, defaultState: 'Denied', destinationIds: ['d'] },
    beside: { destinations: [destination] },
  },
  globalDispatchCenters: {
    file: dispatchPlan,
    effect: decide,
    entity: {
      id: 'c',
      isEnabled: true,
      categories: [{ name: 'No', priority: 1, destinationIds: ['d'], logic: always }],
    },
    beside: { destinations: [destination] },
  },
  replaySettings: {
    file: sourcesOfGateway,
    effect: (config) => gateway(config)?.recording,
    entity: { id: 'replay', isEnabled: true },
    beside: { sources: [source] },
  },
  tagManagers: {
    file: containers,
    effect: container,
    entity: manager,
    beside: {
      sources: [source],
      tagManagerTags: [tag],
      tagManagerTriggers: [trigger],
      tagManagerVariables: [variable],
    },
  },
  tagManagerTags: {
    file: containers,
    effect: container,
    entity: tag,
    beside: {
      sources: [source],
      tagManagers: [manager],
      tagManagerTriggers: [trigger],
      tagManagerVariables: [variable],
    },
  },
  tagManagerTriggers: {
    file: containers,
    effect: container,
    entity: trigger,
    beside: { sources: [source], tagManagers: [manager], tagManagerTags: [tag], tagManagerVariables: [variable] },
  },
  tagManagerVariables: {
    file: containers,
    effect: container,
    entity: variable,
    beside: { sources: [source], tagManagers: [manager], tagManagerTags: [tag], tagManagerTriggers: [trigger] },
  },
  dataGovernanceRules: { file: resolvePlan, effect: plan, entity: rule },
  dataGovernanceEvents: {
    file: resolvePlan,
    effect: plan,
    entity: {
      id: 'e',
      name: 'Bought',
      status: 'Approved',
      properties: [{ name: 'total', type: 'string', isRequired: true, description: null }],
    },
  },
  experimentSettings: {
    file: experimentPlan,
    effect: experiments,
    entity: { id: 'settings', isEnabled: false, token: `exp_${'a'.repeat(32)}` },
    beside: running,
  },
  experiments: { file: experimentPlan, effect: experiments, entity: experiment },
  experimentVariants: {
    file: experimentPlan,
    effect: experiments,
    entity: control,
    beside: { ...running, experimentVariants: variants },
  },
};

test('collections: each has a reader', () => {
  expect(Object.keys(readers).toSorted()).toEqual(collectionNames.toSorted());
});

test.each(Object.entries(readers))('collections: what is published in %s makes a difference', (name, reader) => {
  const path = fileURLToPath(new URL(reader.file, topFolder));
  expect([reader.file, existsSync(path) && readFileSync(path, 'utf8').includes(name)]).toEqual([reader.file, true]);
  const { beside = {}, entity } = reader;
  const sourceKeys = [{ keyHash: hashSourceKey('key'), sourceId: 's', test: false }];
  const others = beside[name as CollectionName] ?? [];
  const without = reader.effect(testLiveConfig(beside, { sourceKeys }));
  const having = reader.effect(testLiveConfig({ ...beside, [name]: [entity, ...others] }, { sourceKeys }));
  expect(JSON.stringify([having])).not.toBe(JSON.stringify([without]));
});
