import { openBuckets } from '../nats/buckets/open-buckets.ts';
import { connectLog } from '../nats/connection/connection.ts';
import type { LogAccess } from '../nats/connection/log-access.ts';
import type { TopologySettings } from '../nats/streams/topology-settings.ts';
import { ensureTopology } from '../nats/streams/topology.ts';
import { retry } from '../runtime/retry.ts';
import { asLogUser } from './as-log-user.ts';

/**
 * Makes the streams and buckets, as the control plane does in a deployment: the other services may not make all of them.
 * Returns the number of partitions. A request that is not answered in time is repeated, as a control plane does that starts
 * again: on a busy machine a server may take longer to sync what it makes than one request waits.
 */
export async function makeTestLog(access: LogAccess, settings: TopologySettings): Promise<number> {
  const connection = await connectLog({ ...access, url: asLogUser(access.url, 'controlPlane'), name: 'make-test-log' });
  try {
    return await retry(
      async () => {
        const { partitions } = await ensureTopology(connection, settings);
        await openBuckets(connection, settings.replicas);
        return partitions;
      },
      { isPassing: isUnanswered },
    );
  } finally {
    await connection.close();
  }
}

/** Whether an error, or what caused it, is a request that no server answered in time. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'TIMEOUT') || isUnanswered(error.cause);
}
