import type { Pool } from 'pg';
import { createVisitorPool } from '../visitors/visitor-pool.ts';

/** Connections to a test's database as the services have them. */
export function openTestPool(databaseUrl: string, connectionsMax: number): Pool {
  return createVisitorPool({
    databaseUrl,
    connectionsMax,
    name: 'test',
    forceIndexScans: true,
    // A connection that breaks while idle is replaced by the pool.
    onIdleError: () => undefined,
  });
}
