import type { Pool } from 'pg';
import { leaderLockNumber, leaderSession } from './leader-lock.ts';

/** A control plane that is connected to the database. */
export type LiveControlPlane = {
  /** The address that it connects from; null for a socket of the database's own machine. */
  readonly address: string | null;
  /** Version of its build; null for a build that does not report it. */
  readonly version: string | null;
  /** When it connected, an ISO time. */
  readonly connectedAt: string;
  /** Whether it is the leader, which publishes configuration. */
  readonly isLeader: boolean;
};

type Row = {
  readonly address: string | null;
  readonly name: string;
  readonly connected_at: Date;
  readonly is_leader: boolean;
};

const listedMax = 100;

/** Lists control planes by their sessions: each competes for leadership on one session with a known name. */
export async function listControlPlanes(pool: Pool): Promise<readonly LiveControlPlane[]> {
  const { rows } = await pool.query<Row>(
    `select host(client_addr) as address, application_name as name, backend_start as connected_at,
       exists (
         select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory' and l.granted and l.objid = $1
       ) as is_leader
     from pg_stat_activity a
     where (application_name = $2 or application_name like $2 || ' %') and datname = current_database()
     order by is_leader desc, backend_start limit ${listedMax}`,
    [leaderLockNumber, leaderSession],
  );
  return rows.map((row) => ({
    address: row.address,
    version: row.name.slice(leaderSession.length + 1) || null,
    connectedAt: row.connected_at.toISOString(),
    isLeader: row.is_leader,
  }));
}
