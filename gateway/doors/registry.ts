import type { Admission } from '../admission/admission.ts';
import type { PublishedSources } from '../admission/published-sources.ts';
import type { GroupCommit } from '../framing/group-commit.ts';
import { createBatchDoor } from './batch.ts';
import type { BatchSettings } from './batch.ts';
import type { Door } from './door.ts';
import { createExperimentsDoors } from './experiments-proxy.ts';
import type { ExperimentsProxyOptions } from './experiments-proxy.ts';
import { createIdentifyDoor } from './identify.ts';
import { Intake } from './intake.ts';
import type { IntakeSettings } from './intake.ts';
import { createOpenApiDoor } from './openapi.ts';
import { createPixelDoor } from './pixel.ts';
import type { JsonLimits } from './read-json.ts';
import { createRedirectDoor } from './redirect.ts';
import { SingleEvent } from './single-event.ts';
import { createTrackDoor } from './track.ts';
import { createWebhookDoor } from './webhook.ts';

export type DoorsOptions = {
  readonly admission: Admission;
  readonly sources: PublishedSources;
  readonly commit: GroupCommit;
  readonly intake: IntakeSettings;
  readonly limits: JsonLimits;
  /** Bytes of a body with one event. */
  readonly bodyBytesMax: number;
  readonly batch: BatchSettings;
  readonly experiments: ExperimentsProxyOptions;
};

/** All ways in. A door is a file in this folder and its line here. */
export function createDoors(options: DoorsOptions): readonly Door[] {
  const { admission, sources, commit, limits, bodyBytesMax, batch } = options;
  const intake = new Intake(admission, commit, options.intake);
  const events = new SingleEvent(intake, limits);
  return [
    createTrackDoor(events, bodyBytesMax),
    createIdentifyDoor(events, bodyBytesMax),
    createBatchDoor(intake, batch),
    createPixelDoor(events, intake),
    createRedirectDoor(events, intake, sources),
    createWebhookDoor(events, intake, limits, bodyBytesMax),
    ...createExperimentsDoors(options.experiments),
    createOpenApiDoor({ bodyBytesMax, batch }),
  ];
}
