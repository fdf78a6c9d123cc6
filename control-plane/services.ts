import type { CoreServices } from './api/define-endpoint.ts';
import type { DestinationServices } from './destinations/endpoints.ts';
import type { ReplayServices } from './replays/endpoints.ts';
import type { SourceServices } from './sources/endpoints.ts';
import type { VersionServices } from './versions/endpoints.ts';

/** What endpoints work with. */
export type Services = CoreServices & DestinationServices & ReplayServices & SourceServices & VersionServices;
