import { uuidv7 } from 'uuidv7';
import { announceErasure } from '../../shared/nats/erasures/announce-erasure.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { AnnouncedErasure } from '../../shared/visitors/erase-visitor.ts';
import { defineService } from '../api/services.ts';
import { unavailable } from '../api/api-error.ts';

/** Tells all who send events of erasures, through the log. */
export type ErasureService = {
  /** Of one erasure. A log that does not store it is a 503. */
  announcer(accountId: string): (erasure: AnnouncedErasure) => Promise<void>;
  /** An erasure holds for longer than it has to. */
  warn(error: unknown): void;
};

export const erasures = defineService<ErasureService>('erasures');

export function createErasureService(connection: LogConnection, logger: Logger): ErasureService {
  return {
    announcer(accountId) {
      const id = uuidv7();
      return async ({ ids, atMs, isAhead }) => {
        try {
          await announceErasure(connection, { id, accountId, visitorIds: ids, atMs, isAhead });
        } catch (error) {
          const failure = unavailable('the log cannot be reached or is busy, and nothing was erased: try again');
          failure.cause = error;
          throw failure;
        }
      };
    },
    warn: (err) =>
      logger.warn(
        { err },
        'the time of an erasure was not stored: events of the visitor are dropped for a minute more',
      ),
  };
}
