import type { Pool } from 'pg';
import type { Scope } from '../../shared/runtime/scope.ts';
import { createPolledFeeds } from '../api/polled-feeds.ts';
import type { Services } from '../api/services.ts';
import { eventFeeds } from './endpoints.ts';
import { readNewestEvents } from './read-newest-events.ts';

/** How often new events are read while a page shows them. */
const everyMs = 1_000;

export function provideEvents(
  { pool, now, onFailure }: { readonly pool: Pool; now(): Date; onFailure(error: unknown): void },
  services: Services,
  scope: Scope,
): void {
  const feeds = createPolledFeeds<string, unknown>({
    everyMs,
    load: (accountId) => readNewestEvents(pool, accountId, now().getTime()),
    onFailure,
  });
  // The HTTP server waits for open answers, so streams of events end first.
  services.provide(
    eventFeeds,
    scope.use('event feeds', feeds, (one) => one.stop(), { endsBefore: 'http' }),
  );
}
