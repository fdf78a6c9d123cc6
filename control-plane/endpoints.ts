import { collections } from '../shared/collections/registry.ts';
import type { Endpoint } from './api/define-endpoint.ts';
import { accountEndpoints } from './account/endpoints.ts';
import { activityEndpoints } from './activity/endpoints.ts';
import type { Described } from './api/build-openapi.ts';
import { auditEndpoints } from './audit/endpoints.ts';
import { collectionEndpoints } from './collections/collection-endpoints.ts';
import { searchEntities } from './collections/search-entities.ts';
import { platformEndpoints } from './compat/endpoints.ts';
import { destinationEndpoints } from './destinations/endpoints.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { logSearchEndpoints } from './log-search/endpoints.ts';
import { savedViewEndpoints } from './events/saved-views.ts';
import { assignmentPaths } from './experiments/assignment/serve-experiments.ts';
import { lifecycleEndpoints } from './experiments/lifecycle-endpoints.ts';
import { readExperimentResults } from './experiments/read-results.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { quarantineEndpoints } from './quarantine/endpoints.ts';
import { replayEndpoints } from './replays/endpoints.ts';
import { ruleEndpoints } from './rules/endpoints.ts';
import { operateEndpoints } from './operate/endpoints.ts';
import { sessionEndpoints } from './sessions/endpoints.ts';
import { singleSignOnOperations } from './single-sign-on/single-sign-on-routes.ts';
import { sessionOperations } from './sessions/session-routes.ts';
import { userEndpoints } from './users/endpoints.ts';
import { sourceEndpoints } from './sources/endpoints.ts';
import { versionEndpoints } from './versions/endpoints.ts';
import { trackingPlanEndpoints } from './tracking-plan/endpoints.ts';
import { identityCountEndpoints } from './visitors/identity-count-endpoints.ts';
import { mergeEndpoints } from './visitors/merge-endpoints.ts';
import { visitorEndpoints } from './visitors/endpoints.ts';
import { erasureEndpoints } from './erasures/erasure-endpoints.ts';
import { suppressionEndpoints } from './visitors/suppression-endpoints.ts';

// Destinations and sources have their own endpoints.
const generic = collections.filter(({ name }) => name !== 'destinations' && name !== 'sources');

/** Every operation of Sluice's own configuration interface, in the order of its OpenAPI document. */
const ownEndpoints: readonly Endpoint[] = [
  ...destinationEndpoints,
  ...replayEndpoints,
  ...sourceEndpoints,
  ...versionEndpoints,
  ...generic.flatMap(collectionEndpoints),
  searchEntities,
  ...lifecycleEndpoints,
  readExperimentResults,
  ...eventEndpoints,
  ...logSearchEndpoints,
  ...savedViewEndpoints,
  ...ruleEndpoints,
  ...visitorEndpoints,
  ...mergeEndpoints,
  ...identityCountEndpoints,
  ...erasureEndpoints,
  ...suppressionEndpoints,
  ...quarantineEndpoints,
  ...trackingPlanEndpoints,
  ...accountEndpoints,
  ...userEndpoints,
  ...keyEndpoints,
  ...auditEndpoints,
  ...activityEndpoints,
  ...operateEndpoints,
  ...sessionEndpoints,
];

/** The OpenAPI documents: one for the configuration API, one for the endpoints of other clients. */
export const documents: readonly Described[] = [
  {
    name: undefined,
    title: 'Sluice configuration interface',
    description:
      'Destinations, sources and the other configuration of an account. Changes are a draft until a version is created and published.',
    endpoints: ownEndpoints,
    publicOperations: [
      { tag: 'Experiment assignments', paths: assignmentPaths },
      sessionOperations,
      singleSignOnOperations,
    ],
  },
  {
    name: 'platform-library',
    title: 'Sluice for the platform library of the specified service',
    description:
      'Operations that the library requests at another address, or in another shape, than the configuration interface has. ' +
      'If both documents describe an address, requests with the header `x-stainless-lang`, which the library always sends, ' +
      'are answered as described here. All other operations are in the document of the configuration interface.',
    endpoints: platformEndpoints,
    publicOperations: [],
  },
];

export const endpoints: readonly Endpoint[] = documents.flatMap((document) => document.endpoints);
