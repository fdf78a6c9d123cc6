import { collections } from '../shared/collections/registry.ts';
import type { CoreServices, Endpoint } from './api/define-endpoint.ts';
import { activityEndpoints } from './activity/endpoints.ts';
import type { ActivityEndpointServices } from './activity/endpoints.ts';
import type { PublicOperations } from './api/build-openapi.ts';
import type { EventServices } from './events/endpoints.ts';
import { auditEndpoints } from './audit/endpoints.ts';
import { collectionEndpoints } from './collections/collection-endpoints.ts';
import type { DestinationServices } from './destinations/endpoints.ts';
import { destinationEndpoints } from './destinations/endpoints.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { assignmentPaths } from './experiments/assignment/serve-experiments.ts';
import { lifecycleEndpoints } from './experiments/lifecycle-endpoints.ts';
import { readExperimentResults } from './experiments/read-results.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import type { ReplayServices } from './replays/endpoints.ts';
import { replayEndpoints } from './replays/endpoints.ts';
import { ruleEndpoints } from './rules/endpoints.ts';
import type { SourceServices } from './sources/endpoints.ts';
import { operateEndpoints } from './operate/endpoints.ts';
import type { OperateServices } from './operate/endpoints.ts';
import { sessionEndpoints } from './sessions/endpoints.ts';
import type { SessionServices } from './sessions/endpoints.ts';
import { sessionOperations } from './sessions/session-routes.ts';
import { sourceEndpoints } from './sources/endpoints.ts';
import type { VersionServices } from './versions/endpoints.ts';
import { versionEndpoints } from './versions/endpoints.ts';
import { visitorEndpoints } from './visitors/endpoints.ts';

// Destinations and sources have endpoints of their own.
const generic = collections.filter(({ name }) => name !== 'destinations' && name !== 'sources');

/** Every operation of the configuration interface, in the order in which its description shows them. */
export const endpoints: readonly Endpoint<Services>[] = [
  ...destinationEndpoints,
  ...replayEndpoints,
  ...sourceEndpoints,
  ...versionEndpoints,
  ...generic.flatMap(collectionEndpoints),
  ...lifecycleEndpoints,
  readExperimentResults,
  ...eventEndpoints,
  ...ruleEndpoints,
  ...visitorEndpoints,
  ...keyEndpoints,
  ...auditEndpoints,
  ...activityEndpoints,
  ...operateEndpoints,
  ...sessionEndpoints,
];

/** What needs no key, as the description shows it. */
export const publicOperations: readonly PublicOperations[] = [
  { tag: 'Experiment assignments', paths: assignmentPaths },
  sessionOperations,
];

/** What endpoints work with. */
export type Services = CoreServices &
  ActivityEndpointServices &
  DestinationServices &
  EventServices &
  OperateServices &
  ReplayServices &
  SessionServices &
  SourceServices &
  VersionServices;
