import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { findFreePort } from '../machine/free-port.ts';
import { type NatsServer, type NatsServerOptions, startNatsServer } from './nats-server.ts';

const formedDeadlineMs = 60_000;
const healthTimeoutMs = 2_000;
const pollMs = 50;
const startAttemptsMax = 2;

type NodeOptions = Omit<NatsServerOptions, 'cluster' | 'serverName'>;

/**
 * Starts one node for each entry of `nodes`, all on this machine, and resolves once the nodes have elected the leader
 * that places streams. Requests for replicated streams get no response before the election.
 */
export async function startNatsCluster(name: string, nodes: readonly NodeOptions[]): Promise<NatsServer[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startFormed(name, nodes);
    } catch (error) {
      // Nodes open their cluster port last, and end if another process has taken the port by then.
      const mayHaveLostRace = error instanceof EmbeddedServerError && error.code === 'start_failed';
      if (!mayHaveLostRace || attempt >= startAttemptsMax) throw error;
    }
  }
}

async function startFormed(name: string, nodes: readonly NodeOptions[]): Promise<NatsServer[]> {
  const started = await startNodes(name, nodes);
  try {
    await untilFormed(started);
    return started;
  } catch (error) {
    await Promise.all(started.map((node) => node.stop()));
    throw error;
  }
}

async function startNodes(name: string, nodes: readonly NodeOptions[]): Promise<NatsServer[]> {
  const routes = await distinctPorts(nodes.length);
  const password = randomBytes(24).toString('hex');
  const starts = await Promise.allSettled(
    nodes.map((options, index) => {
      const port = routes[index] ?? 0;
      return startNatsServer({
        ...options,
        serverName: `${name}-${index + 1}`,
        cluster: { name, port, routes, password },
      });
    }),
  );
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((node) => node.stop()));
  throw failed.reason;
}

async function untilFormed(nodes: readonly NatsServer[]): Promise<void> {
  const over = new AbortController();
  const deadline = AbortSignal.any([AbortSignal.timeout(formedDeadlineMs), over.signal]);
  try {
    await Promise.race([
      Promise.all(nodes.map((node) => untilHealthy(node, deadline))),
      ...nodes.map((node) => whenEnded(node)),
    ]);
  } finally {
    over.abort();
  }
}

async function whenEnded(node: NatsServer): Promise<never> {
  const { code, signal } = await node.exited;
  const how = signal ?? `exit code ${code}`;
  throw new EmbeddedServerError(
    'start_failed',
    `the nats-server at ${node.url} ended (${how}) while its cluster formed`,
  );
}

/** Resolves once the node's health page reports that the node is healthy, and thus knows the leader of its cluster. */
async function untilHealthy(node: NatsServer, deadline: AbortSignal): Promise<void> {
  let answer = '';
  while (!deadline.aborted) {
    try {
      const reply = await fetch(`${node.monitorUrl}/healthz`, { signal: AbortSignal.timeout(healthTimeoutMs) });
      answer = await reply.text();
      if (reply.ok) {
        return;
      }
    } catch (error) {
      answer = error instanceof Error ? error.message : String(error);
    }
    await delay(pollMs);
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
