import type { Pool } from 'pg';
import type { Scope } from '../../shared/runtime/scope.ts';
import { createPolledFeeds } from '../api/polled-feeds.ts';
import type { Services } from '../api/services.ts';
import { eventFeeds } from './endpoints.ts';
import { readNewestEvents } from './read-newest-events.ts';

export function provideEvents(
  env: { readonly CONSOLE_EVENTS_EVERY_MS: number },
  { pool, now, onFailure }: { readonly pool: Pool; now(): Date; onFailure(error: unknown): void },
  services: Services,
  scope: Scope,
): void {
  const feeds = createPolledFeeds<string, unknown>({
    everyMs: env.CONSOLE_EVENTS_EVERY_MS,
    load: (accountId) => readNewestEvents(pool, accountId, now().getTime()),
    onFailure,
  });
  // Open streams would keep answers from ending.
  services.provide(
    eventFeeds,
    scope.use('event feeds', feeds, (one) => one.stop(), { endsBefore: 'http' }),
  );
}
