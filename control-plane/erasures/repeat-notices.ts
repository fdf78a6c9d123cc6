import type { Pool } from 'pg';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { announceNotices } from '../../shared/nats/erasures/announce-erasure.ts';
import { readAnnouncedErasures, readErasuresEnd, wentBack } from '../../shared/nats/erasures/announced-erasures.ts';
import type { ErasuresEnd } from '../../shared/nats/erasures/announced-erasures.ts';
import { every } from '../../shared/runtime/every.ts';
import type { Periodic } from '../../shared/runtime/every.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { isWorthTelling } from '../../shared/runtime/retry.ts';
import { keyNotices, selectNotices } from './erasure-notices.ts';

export type RepeatOptions = {
  readonly pool: Pool;
  readonly connection: LogConnection;
  readonly logger: Logger;
  leading(): boolean;
  now(): Date;
};

const everyMs = 1_000;

/**
 * Announces erasures that the log lacks, while this control plane leads: earlier versions announced none, and a log that
 * was restored from an older copy lacks all later ones. All notices are compared after each start, each reconnect, and
 * when the stream has gone back.
 */
export function repeatNotices({ pool, connection, logger, leading, now }: RepeatOptions): Periodic {
  const aborting = new AbortController();
  let compared: ErasuresEnd | undefined;
  let failures = 0;

  const compare = async (): Promise<number> => {
    while ((await keyNotices(pool, connection, now().getTime())) > 0) aborting.signal.throwIfAborted();
    const announced = await readAnnouncedErasures(connection, aborting.signal);
    const { keyId, sinceMs } = announced;
    let repeated = 0;
    for await (const page of selectNotices(pool, { keyId, sinceMs, nowMs: now().getTime() })) {
      for (const { accountId, notice } of page) {
        if (announced.has(notice)) continue;
        aborting.signal.throwIfAborted();
        await announceNotices(connection, accountId, [notice]);
        repeated += 1;
      }
    }
    return repeated;
  };
  const look = async (): Promise<void> => {
    if (!leading()) compared = undefined;
    if (!leading() || !connection.connected) return;
    try {
      const before = compared;
      const end = await readErasuresEnd(connection);
      compared = end;
      if (before !== undefined && !wentBack(before, end)) return;
      const repeated = await compare();
      failures = 0;
      logger.info({ repeated }, 'the log has every erasure of the last year');
    } catch (err) {
      compared = undefined;
      failures += 1;
      if (!aborting.signal.aborted && isWorthTelling(failures)) {
        logger.warn({ err }, 'comparing erasures with the log failed; retrying');
      }
    }
  };
  const looking = every(everyMs, look, { atOnce: true });
  const offReconnect = connection.onReconnect(() => {
    compared = undefined;
  });
  return {
    async stop() {
      offReconnect();
      aborting.abort(new Error('erasures are not announced again any more'));
      await looking.stop();
    },
  };
}
