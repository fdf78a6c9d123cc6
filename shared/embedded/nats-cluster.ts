import { setTimeout as delay } from 'node:timers/promises';

import { EmbeddedServerError } from './embedded-server-error.ts';
import { findFreePort } from './free-port.ts';
import { type NatsServer, type NatsServerOptions, startNatsServer } from './nats-server.ts';

const FORMED_DEADLINE_MS = 60_000;
const HEALTH_TIMEOUT_MS = 2_000;
const POLL_MS = 50;

/**
 * Starts one node for each of the options, all on this machine, and resolves once they have elected who keeps the
 * streams' whereabouts. Only from then on can replicated streams be made: requests before that go unanswered.
 */
export async function startNatsCluster(
  name: string,
  nodes: readonly Omit<NatsServerOptions, 'cluster' | 'serverName'>[],
): Promise<NatsServer[]> {
  const routes = await distinctPorts(nodes.length);
  const starts = await Promise.allSettled(
    nodes.map((options, index) => {
      const port = routes[index] ?? 0;
      return startNatsServer({ ...options, serverName: `${name}-${index + 1}`, cluster: { name, port, routes } });
    }),
  );
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  try {
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed !== undefined) {
      throw failed.reason;
    }
    const deadline = Date.now() + FORMED_DEADLINE_MS;
    await Promise.all(started.map((node) => untilHealthy(node, deadline)));
    return started;
  } catch (error) {
    await Promise.all(started.map((node) => node.stop()));
    throw error;
  }
}

/** Resolves once the node's own health page says that it is well, which in a cluster includes that it knows a leader. */
async function untilHealthy(node: NatsServer, deadline: number): Promise<void> {
  let answer = '';
  while (Date.now() < deadline) {
    try {
      const reply = await fetch(`${node.monitorUrl}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
      answer = await reply.text();
      if (reply.ok) {
        return;
      }
    } catch (error) {
      answer = error instanceof Error ? error.message : String(error);
    }
    await delay(POLL_MS);
  }
  throw new EmbeddedServerError('start_failed', `the nats-server at ${node.url} did not join its cluster: ${answer}`);
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    ports.add(await findFreePort());
  }
  return [...ports];
}
