import { AckPolicy, DeliverPolicy, ReplayPolicy, nanos } from 'nats';
import type { ConsumerConfig } from 'nats';
import type { LogConnection } from './connection.ts';
import { isNotFound } from './server-error.ts';

/** Where a new durable consumer begins: the oldest message kept, only what comes next, or a point. */
export type StartFrom = 'first' | 'next' | { readonly seq: number } | { readonly timeMs: number };

export type DurableConsumer = {
  readonly stream: string;
  readonly name: string;
  readonly filterSubject: string;
  /** Used only when the consumer is made; a consumer that exists keeps its place. */
  readonly startFrom: StartFrom;
  /** After this long without ack or progress a message is delivered again, in ms. */
  readonly ackWaitMs: number;
  /** Messages delivered and not yet acknowledged, at most. */
  readonly ackPendingMax: number;
};

/** What every durable consumer of ours has. */
export const consumerPolicy = {
  ack_policy: AckPolicy.Explicit,
  replay_policy: ReplayPolicy.Instant,
  // A message is never given up by the server: attempts are counted by whoever delivers.
  max_deliver: -1,
} as const;

export class ConsumerError extends Error {
  readonly code = 'consumer';
}

/**
 * Makes the durable consumer when it is missing; an existing one gets the limits given and keeps its place. Says which
 * of the two it was.
 */
export async function ensureConsumer(connection: LogConnection, wanted: DurableConsumer): Promise<'found' | 'made'> {
  const { jsm } = connection;
  const limits = { ack_wait: nanos(wanted.ackWaitMs), max_ack_pending: wanted.ackPendingMax };
  try {
    const found = await jsm.consumers.info(wanted.stream, wanted.name);
    const same = found.config.ack_wait === limits.ack_wait && found.config.max_ack_pending === limits.max_ack_pending;
    if (!same) await jsm.consumers.update(wanted.stream, wanted.name, { ...found.config, ...limits });
    return 'found';
  } catch (error) {
    if (!isNotFound(error)) throw new ConsumerError(`ensuring consumer ${wanted.name}`, { cause: error });
  }
  try {
    await jsm.consumers.add(wanted.stream, {
      durable_name: wanted.name,
      filter_subject: wanted.filterSubject,
      ...consumerPolicy,
      ...limits,
      ...startConfig(wanted.startFrom),
    });
    return 'made';
  } catch (error) {
    throw new ConsumerError(`creating consumer ${wanted.name}`, { cause: error });
  }
}

/** Deletes a durable consumer; one that is gone already is fine. */
export async function deleteConsumer(connection: LogConnection, stream: string, name: string): Promise<void> {
  try {
    await connection.jsm.consumers.delete(stream, name);
  } catch (error) {
    if (!isNotFound(error)) throw new ConsumerError(`deleting consumer ${name}`, { cause: error });
  }
}

function startConfig(from: StartFrom): Pick<ConsumerConfig, 'deliver_policy'> & Partial<ConsumerConfig> {
  if (from === 'first') return { deliver_policy: DeliverPolicy.All };
  if (from === 'next') return { deliver_policy: DeliverPolicy.New };
  if ('seq' in from) return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.seq };
  return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(from.timeMs).toISOString() };
}
