import type { Scope } from '../../shared/runtime/scope.ts';
import { createPolledFeeds } from '../api/polled-feeds.ts';
import type { Services } from '../api/services.ts';
import { activityFeeds } from './endpoints.ts';
import type { ActivityKey } from './endpoints.ts';
import { readActivity } from './read-activity.ts';
import type { ActivityServices } from './read-activity.ts';

/** How often the overview is read while a page shows it. */
const everyMs = 2_000;

export function provideActivity(
  { onFailure, ...read }: ActivityServices & { onFailure(error: unknown): void },
  services: Services,
  scope: Scope,
): void {
  const feeds = createPolledFeeds<ActivityKey, unknown>({
    everyMs,
    load: ({ accountId, ...query }) => readActivity(read, accountId, query),
    onFailure,
  });
  // Open streams would keep HTTP responses from ending.
  services.provide(
    activityFeeds,
    scope.use('activity feeds', feeds, (one) => one.stop(), { endsBefore: 'http' }),
  );
}
