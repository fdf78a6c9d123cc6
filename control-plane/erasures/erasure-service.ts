import type { PoolClient, Pool } from 'pg';
import { uuidv7 } from 'uuidv7';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { announceNotices, noticesOfErasure } from '../../shared/nats/erasures/announce-erasure.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { signCertificate } from '../../shared/contracts/erasure-certificate.ts';
import type { SignedCertificate } from '../../shared/contracts/erasure-certificate.ts';
import type { AnnouncedErasure, ForwardedErasure } from '../../shared/visitors/erase-visitor.ts';
import { forwardErasureRecord, selectErasureRecord } from '../../shared/visitors/erasure-records.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { defineService } from '../api/services.ts';
import { unavailable } from '../api/api-error.ts';
import { accountSigner } from './account-keys.ts';
import { certificateOf } from './certificate.ts';
import type { RetentionLimits } from './certificate.ts';
import type { ErasureSettings } from './erasure-settings.ts';
import { sealSubject } from './erasure-subject.ts';
import { keepNotices } from './erasure-notices.ts';
import { insertTargets, selectTargets } from './erasure-targets.ts';

/** Effects of an erasure in addition to deleting rows. */
export type ErasureService = {
  /**
   * Announces one erasure to all senders of events, through the log, and keeps its notices in the database. Throws a
   * 503 if the log does not store it.
   */
  announcer(accountId: string): (erasure: AnnouncedErasure, db: Queryable) => Promise<void>;
  /** Stores which destinations have to delete the visitor, within the transaction of the erasure. */
  forward(client: PoolClient, accountId: string, erasure: ForwardedErasure): Promise<void>;
  /** The current state of an erasure, signed with the account's key; undefined if there is no such erasure. */
  certify(accountId: string, erasureId: string): Promise<SignedCertificate | undefined>;
  /** Called if the time of an erasure could not be stored, so that events are dropped for longer than necessary. */
  warn(error: unknown): void;
};

export const erasures = defineService<ErasureService>('erasures');

export type ErasureParts = {
  readonly connection: LogConnection;
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  readonly settings: ErasureSettings;
  readonly limits: RetentionLimits;
  readonly logger: Logger;
  now(): Date;
};

export function createErasureService(parts: ErasureParts): ErasureService {
  const { connection, pool, secretBox, settings, limits, logger, now } = parts;
  return {
    announcer(accountId) {
      const id = uuidv7();
      return async ({ ids: visitorIds, atMs, isAhead }, db) => {
        const made = await noticesOfErasure(connection, { id, accountId, visitorIds, atMs, isAhead }).catch(refused);
        // First, so that a process that ends in between leaves notices that are announced again.
        await keepNotices(db, accountId, made, now().getTime());
        await announceNotices(connection, accountId, made.notices).catch(refused);
      };
    },
    async forward(client, accountId, { erasureId, requestedAtMs, person }) {
      const firstAttemptAt = new Date(requestedAtMs + settings.forwardAfterMs);
      const count = await insertTargets(client, { accountId, erasureId, since: person.since, firstAttemptAt });
      // Without a destination to ask, nothing would delete the identifiers soon.
      if (count === 0) return;
      const subject = sealSubject(secretBox, accountId, erasureId, person);
      await forwardErasureRecord(client, erasureId, { dueAtMs: requestedAtMs + settings.deadlineMs, subject });
    },
    async certify(accountId, erasureId) {
      const record = await selectErasureRecord(pool, accountId, erasureId);
      if (record === undefined) return undefined;
      const targets = await selectTargets(pool, accountId, erasureId);
      const signer = await accountSigner(pool, secretBox, accountId, now());
      return signCertificate(certificateOf(accountId, record, targets, { limits, now: now() }), signer);
    },
    warn: (err) =>
      logger.warn(
        { err },
        'the time of an erasure was not stored: events of the visitor are dropped for one more minute',
      ),
  };
}

function refused(cause: unknown): never {
  const failure = unavailable('the log cannot be reached or is busy, and nothing was erased: try again');
  failure.cause = cause;
  throw failure;
}
