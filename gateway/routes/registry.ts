import type { Admission } from '../ingest/admission.ts';
import type { PublishedSources } from '../ingest/published-sources.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import { createBatchRoute } from './batch/batch.ts';
import type { BatchSettings } from './batch/batch.ts';
import type { Route } from '../http/route.ts';
import { CompatIntake } from './compat/compat-intake.ts';
import type { CompatCounts } from './compat/compat-intake.ts';
import type { CompatSettings } from './compat/compat-settings.ts';
import { createPostHogRoutes } from './compat/posthog.ts';
import { createPostHogConfigRoutes } from './compat/posthog-config.ts';
import { createRudderStackRoutes } from './compat/rudderstack.ts';
import { createSegmentRoutes } from './compat/segment.ts';
import { createAskFlags } from './experiments/ask-flags.ts';
import { createExperimentsRoutes } from './experiments/experiments-proxy.ts';
import type { ExperimentsProxyOptions } from './experiments/experiments-proxy.ts';
import { createIdentifyRoute } from './identify.ts';
import { Intake } from '../ingest/intake.ts';
import { createOpenApiRoutes } from './openapi/openapi.ts';
import { createPixelRoute } from './pixel.ts';
import { createRedirectRoute } from './redirect.ts';
import { SingleEvent } from '../ingest/single-event.ts';
import type { EventLimits } from '../ingest/single-event.ts';
import {
  createContainerRoute,
  createSnippetRoute,
  createSnippetSettingsRoute,
  createTagScriptRoute,
} from './snippet/snippet.ts';
import { createTrackRoute } from './track.ts';
import { MadeEvents } from '../ingest/made-events.ts';
import type { WebhookSettings } from '../webhook/webhook-settings.ts';
import { createWebhookRoutes } from './webhook.ts';

export type RoutesOptions = {
  readonly admission: Admission;
  readonly sources: PublishedSources;
  readonly commit: GroupCommit;
  readonly partitions: number;
  readonly limits: EventLimits;
  /** Bytes of a body with one event. */
  readonly bodyBytesMax: number;
  readonly batch: BatchSettings;
  readonly webhook: WebhookSettings;
  readonly experiments: ExperimentsProxyOptions;
  readonly compat: CompatSettings;
  /** Whether the gateway itself speaks TLS. */
  readonly isSecure: boolean;
};

export type GatewayRoutes = { readonly routes: readonly Route[]; readonly compatCounts: CompatCounts };

/** All routes. Each is a file here, or in a folder of its own here, and one line in this list. */
export function createRoutes(options: RoutesOptions): GatewayRoutes {
  const { admission, sources, commit, limits, bodyBytesMax, batch, isSecure } = options;
  const intake = new Intake(admission, commit, options.partitions);
  const ofEvent = { ...limits, bytesMax: bodyBytesMax };
  const events = new SingleEvent(admission, intake, ofEvent);
  const made = new MadeEvents(intake, ofEvent);
  const compat = new CompatIntake(admission, intake, options.compat);
  const routes: readonly Route[] = [
    createTrackRoute(events, bodyBytesMax),
    createIdentifyRoute(events, bodyBytesMax),
    createBatchRoute(admission, intake, batch),
    createPixelRoute({ admission, intake, events, isSecure }),
    createRedirectRoute({ admission, sources, intake, events, isSecure }),
    ...createWebhookRoutes({ admission, events, made, limits, bodyBytesMax, settings: options.webhook }),
    ...createExperimentsRoutes(options.experiments),
    createSnippetRoute(),
    createSnippetSettingsRoute(admission),
    createTagScriptRoute(),
    createContainerRoute(admission),
    ...createSegmentRoutes(compat, admission, isSecure),
    ...createRudderStackRoutes(compat, admission),
    ...createPostHogRoutes(compat),
    ...createPostHogConfigRoutes(compat, admission, createAskFlags(options.experiments)),
  ];
  return { routes: [...routes, ...createOpenApiRoutes(routes)], compatCounts: compat.counts };
}
