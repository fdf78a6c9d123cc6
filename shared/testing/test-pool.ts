import type { Pool } from 'pg';
import { createVisitorPool } from '../visitors/visitor-pool.ts';

/** Opens a pool of connections to a test's database, with the services' settings. */
export function openTestPool(databaseUrl: string, connectionsMax: number): Pool {
  return createVisitorPool({
    databaseUrl,
    connectionsMax,
    name: 'test',
    forceIndexScans: true,
    // The pool replaces a connection that breaks while idle.
    onIdleError: () => undefined,
  });
}
