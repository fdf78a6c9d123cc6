import type { Pool } from 'pg';
import { deniedIn } from '../../shared/contracts/events/consent-words.ts';
import { announceWithdrawals } from '../../shared/nats/erasures/announce-withdrawals.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { clusterOf } from '../../shared/visitors/find-visitor.ts';
import type { VisitorProperties } from '../../shared/visitors/visitor-properties.ts';
import { defineService } from '../api/services.ts';

/** A visitor after a merge. */
type MergedVisitor = { readonly survivor: string; readonly properties: VisitorProperties };

/**
 * Announces what a merged visitor has denied to all senders, so that it also stops waiting events of the ids that did
 * not deny it. Never rejects: if the log refuses, the next event that names the merged id announces it.
 */
export type AnnounceRefusals = (accountId: string, visitor: MergedVisitor) => Promise<void>;

export const announceRefusals = defineService<AnnounceRefusals>('announcing refusals of merged visitors');

export type AnnounceRefusalsParts = {
  readonly connection: LogConnection;
  readonly pool: Pool;
  readonly logger: Pick<Logger, 'warn'>;
  now(): Date;
};

export function createAnnounceRefusals({ connection, pool, logger, now }: AnnounceRefusalsParts): AnnounceRefusals {
  return async (accountId, { survivor, properties }) => {
    const denied = deniedIn(properties.value['consent']);
    if (denied.length === 0) return;
    const words = Object.fromEntries(denied.map((name) => [name, false]));
    try {
      const visitorIds = await clusterOf(pool, accountId, survivor);
      await announceWithdrawals(connection, [{ accountId, visitorIds, words, atMs: now().getTime() }]);
    } catch (err) {
      logger.warn({ err }, 'announcing what a merged visitor has denied failed; its next event announces it');
    }
  };
}
