import pg from 'pg';
import { sslOptions, timeoutOptions } from '../../shared/postgres/database-access.ts';
import type { DatabaseAccess } from '../../shared/postgres/database-access.ts';
import { assertWritable } from '../../shared/postgres/writable-session.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { version } from '../../shared/runtime/version.ts';
import { outboxChannel } from './outbox.ts';

/**
 * The lock for publishing, which one control plane holds at a time, and the notifications that there is something to
 * publish.
 */
export type LeaderLock = {
  readonly leading: boolean;
  stop(): Promise<void>;
};

export type LeaderLockOptions = DatabaseAccess & {
  readonly logger: Logger;
  /** Called when this process becomes the leader, and for each notice. */
  onWake(): void;
};

export const leaderLockNumber = 7_305_212;
/** Prefix of the session's name; the version of the build follows it. `listControlPlanes` finds the sessions by it. */
export const leaderSession = 'sluice publisher';
const retryMs = 1_000;
/** The leader checks its connection in every third round. */
const roundsToConfirm = 3;
const connectTimeoutMs = 5_000;

/**
 * Competes for the lock on a connection of its own: PostgreSQL releases it when the connection ends, so a leader that
 * dies is replaced within a second.
 */
export function competeForLeadership(options: LeaderLockOptions): LeaderLock {
  const { logger } = options;
  let client: pg.Client | undefined;
  let leading = false;
  let confirmed = 0;

  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = undefined;
    if (leading) logger.warn('leadership lost: the database connection closed');
    leading = false;
  };
  const connect = async (): Promise<pg.Client> => {
    const fresh = new pg.Client({
      connectionString: options.databaseUrl,
      ssl: sslOptions(options.databaseTls),
      application_name: `${leaderSession} ${version}`,
      connectionTimeoutMillis: connectTimeoutMs,
      ...timeoutOptions(options.databaseTimeouts),
      query_timeout: connectTimeoutMs,
      keepAlive: true,
    });
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', () => options.onWake());
    try {
      await fresh.connect();
      // A standby server has its own locks: a control plane connected to it would become the leader without
      // competition.
      await assertWritable(fresh);
      await fresh.query(`listen ${outboxChannel}`);
    } catch (error) {
      await fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    return fresh;
  };
  const compete = async (): Promise<void> => {
    const connection = client ?? (await connect());
    if (leading) {
      confirmed = (confirmed + 1) % roundsToConfirm;
      // If the connection broke silently, this process would wrongly remain the leader.
      if (confirmed === 0) await connection.query('select 1');
      return;
    }
    const { rows } = await connection.query<{ won: boolean }>('select pg_try_advisory_lock($1) as won', [
      leaderLockNumber,
    ]);
    if (rows[0]?.won === true) {
      leading = true;
      logger.info('this control plane is the leader and publishes configuration');
      options.onWake();
    }
  };
  const round = async (): Promise<void> => {
    try {
      await compete();
    } catch (error) {
      logger.debug({ err: error }, 'competing for leadership failed');
      const broken = client;
      if (broken !== undefined) {
        lose(broken);
        await broken.end().catch(() => undefined);
      }
    }
  };
  const rounds = every(retryMs, round, { atOnce: true });
  return {
    get leading() {
      return leading;
    },
    async stop() {
      await rounds.stop();
      const open = client;
      leading = false;
      client = undefined;
      await open?.end().catch(() => undefined);
    },
  };
}
