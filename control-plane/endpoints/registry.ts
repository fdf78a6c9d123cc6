import { collections } from '../../shared/collections/registry.ts';
import { collectionEndpoints } from '../collections/collection-endpoints.ts';
import { lifecycleEndpoints } from '../experiments/lifecycle-endpoints.ts';
import { readExperimentResults } from '../experiments/read-results.ts';
import type { Endpoint } from '../http/define-endpoint.ts';
import { abandonDraft } from './abandon-draft.ts';
import { cancelReplay } from './cancel-replay.ts';
import { createDestination } from './create-destination.ts';
import { createKey } from './create-key.ts';
import { createSource } from './create-source.ts';
import { createVersion } from './create-version.ts';
import { deleteDestination } from './delete-destination.ts';
import { deleteSource } from './delete-source.ts';
import { deleteVisitor } from './delete-visitor.ts';
import { listAudit } from './list-audit.ts';
import { listDeadLetters } from './list-dead-letters.ts';
import { listDestinationTypes } from './list-destination-types.ts';
import { listDestinations } from './list-destinations.ts';
import { listEvents } from './list-events.ts';
import { listKeys } from './list-keys.ts';
import { listReplays } from './list-replays.ts';
import { listSources } from './list-sources.ts';
import { listVersions } from './list-versions.ts';
import { listVisitors } from './list-visitors.ts';
import { publishVersion } from './publish-version.ts';
import { readDestinationHealth } from './read-destination-health.ts';
import { readDestination } from './read-destination.ts';
import { readDraftStatus } from './read-draft-status.ts';
import { readReplay } from './read-replay.ts';
import { readSourceTokens } from './read-source-tokens.ts';
import { readSource } from './read-source.ts';
import { readVersionDiff } from './read-version-diff.ts';
import { readVersionSnapshot } from './read-version-snapshot.ts';
import { readVersion } from './read-version.ts';
import { readVisitor } from './read-visitor.ts';
import { revertDraft } from './revert-draft.ts';
import { revokeKey } from './revoke-key.ts';
import { rotateSourceTokens } from './rotate-source-tokens.ts';
import { startReplay } from './start-replay.ts';
import { testDestination } from './test-destination.ts';
import { updateDestination } from './update-destination.ts';
import { updateSource } from './update-source.ts';
import { updateVersion } from './update-version.ts';

// Destinations and sources have endpoints of their own.
const generic = collections.filter(({ name }) => name !== 'destinations' && name !== 'sources');

/** Every operation of the configuration interface, in the order in which its description shows them. */
export const endpoints: readonly Endpoint[] = [
  listDestinations,
  createDestination,
  listDestinationTypes,
  readDestination,
  updateDestination,
  deleteDestination,
  readDestinationHealth,
  testDestination,
  listDeadLetters,
  startReplay,
  listReplays,
  readReplay,
  cancelReplay,
  listSources,
  createSource,
  readSource,
  updateSource,
  deleteSource,
  readSourceTokens,
  rotateSourceTokens,
  listVersions,
  createVersion,
  readVersion,
  updateVersion,
  publishVersion,
  readVersionSnapshot,
  readVersionDiff,
  readDraftStatus,
  revertDraft,
  abandonDraft,
  ...generic.flatMap(collectionEndpoints),
  ...lifecycleEndpoints,
  readExperimentResults,
  listEvents,
  listVisitors,
  readVisitor,
  deleteVisitor,
  listKeys,
  createKey,
  revokeKey,
  listAudit,
];
