import { openBuckets } from '../nats/buckets/open-buckets.ts';
import { connectLog } from '../nats/connection/connection.ts';
import type { LogAccess } from '../nats/connection/log-access.ts';
import type { TopologySettings } from '../nats/streams/topology-settings.ts';
import { ensureTopology } from '../nats/streams/topology.ts';
import { retry } from '../runtime/retry.ts';
import { asLogUser } from './as-log-user.ts';

/**
 * Creates the streams and buckets as the control plane does in a deployment, because other services lack the rights.
 * Returns the number of partitions. Requests that time out are repeated, as by a restarted control plane, because a
 * busy server may need longer than one request's timeout to sync a new stream.
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

/** Whether an error, or one of its causes, is the timeout of a request. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'TIMEOUT') || isUnanswered(error.cause);
}
