import { openBuckets } from '../nats/buckets/open-buckets.ts';
import { connectLog } from '../nats/connection/connection.ts';
import type { LogAccess } from '../nats/connection/log-access.ts';
import type { TopologySettings } from '../nats/streams/topology-settings.ts';
import { ensureTopology } from '../nats/streams/topology.ts';
import { asLogUser } from './as-log-user.ts';

/**
 * Makes the streams and buckets, as the control plane does in a deployment: the other services may not make all of them.
 * Returns the number of partitions.
 */
export async function makeTestLog(access: LogAccess, settings: TopologySettings): Promise<number> {
  const connection = await connectLog({ ...access, url: asLogUser(access.url, 'controlPlane'), name: 'make-test-log' });
  try {
    const { partitions } = await ensureTopology(connection, settings);
    await openBuckets(connection, settings.replicas);
    return partitions;
  } finally {
    await connection.close();
  }
}
