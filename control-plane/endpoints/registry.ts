import type { Endpoint } from '../http/define-endpoint.ts';
import { createDestination } from './create-destination.ts';
import { createSource } from './create-source.ts';
import { createVersion } from './create-version.ts';
import { deleteDestination } from './delete-destination.ts';
import { listDestinationTypes } from './list-destination-types.ts';
import { listDestinations } from './list-destinations.ts';
import { listSources } from './list-sources.ts';
import { listVersions } from './list-versions.ts';
import { publishVersion } from './publish-version.ts';
import { readDestinationHealth } from './read-destination-health.ts';
import { readDestination } from './read-destination.ts';
import { readVersion } from './read-version.ts';
import { updateDestination } from './update-destination.ts';

/** Every operation of the configuration interface, in the order in which its description shows them. */
export const endpoints: readonly Endpoint[] = [
  listDestinations,
  createDestination,
  listDestinationTypes,
  readDestination,
  updateDestination,
  deleteDestination,
  readDestinationHealth,
  listSources,
  createSource,
  listVersions,
  createVersion,
  readVersion,
  publishVersion,
];
