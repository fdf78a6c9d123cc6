import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNotFound } from '../connection/server-error.ts';
import { TopologyError, streams } from './topology.ts';
import { whileForming } from '../connection/while-forming.ts';

/**
 * Throws TopologyError where the log at hand cannot have `replicas` copies, or has more than that: a start never makes
 * it survive less. Before anything is changed.
 */
export async function refuseFewerCopies(connection: LogConnection, replicas: number): Promise<void> {
  if (replicas > 1 && connection[client].nc.info?.cluster === undefined) {
    throw new TopologyError(
      `checking the log: LOG_REPLICAS is ${replicas}, and the nats-server at NATS_URL is in no cluster that could keep ` +
        'them. Set LOG_REPLICAS=1, or NATS_URL to the servers of the cluster',
    );
  }
  for (const stream of Object.values(streams)) {
    const found = await copiesOf(connection, stream);
    if (found <= replicas) continue;
    throw new TopologyError(
      `checking the log: stream ${stream} has ${found} copies, and LOG_REPLICAS asks for ${replicas}. Set LOG_REPLICAS=${found}; ` +
        `where fewer are wanted, stop all services and reduce them first: nats stream edit ${stream} --replicas ${replicas}`,
    );
  }
}

/** 0 for a stream that is missing. */
function copiesOf({ [client]: { jsm } }: LogConnection, stream: string): Promise<number> {
  return whileForming(async () => {
    try {
      return (await jsm.streams.info(stream)).config.num_replicas;
    } catch (error) {
      if (isNotFound(error)) return 0;
      throw error;
    }
  });
}
