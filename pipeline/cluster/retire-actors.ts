import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { deleteConsumer, isUnread } from '../../shared/nats/consume/consumers.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { purgeSubject } from '../../shared/nats/messages/subject-log.ts';
import { retiredEventsConsumers } from '../../shared/contracts/subjects.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { accountActorOf, idOfSpec, traceOf } from '../workers/registry.ts';
import type { AccountActor } from '../workers/registry.ts';

/** Removes what an account's actor leaves in the log: its consumer, its place, and what was there for it alone. */
export async function retireActor(connection: LogConnection, health: Bucket, spec: AccountActor): Promise<void> {
  const { consumer, subjects, forget } = traceOf(spec);
  await deleteConsumer(connection, streams.events, consumer);
  await forget(health);
  for (const { stream, subject } of subjects) await purgeSubject(connection, stream, subject);
}

/**
 * Finds actors that went while no pipeline ran: their consumers would keep the log from being cleaned. Only accounts
 * whose configuration is there are judged, so that a lost bucket costs no consumer.
 */
export async function findForgotten(
  connection: LogConnection,
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<AccountActor[]> {
  const forgotten: AccountActor[] = [];
  for (const { name, filterSubject } of await listConsumerProgress(connection, streams.events)) {
    const accountId = filterSubject.split('.')[1] ?? '';
    const actors = wanted.get(accountId);
    if (actors === undefined) continue;
    const spec = accountActorOf(name, accountId);
    if (spec !== undefined && !actors.has(idOfSpec(spec))) forgotten.push(spec);
  }
  return forgotten;
}

/** A pipeline of an earlier version asks more often, while one runs beside those of this one. */
const unreadMs = 60_000;

/** Removes the consumers that only earlier versions had, once none of these reads them. Returns their names. */
export async function removeRetiredConsumers(connection: LogConnection): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of retiredEventsConsumers) {
    if (!(await isUnread(connection, { stream: streams.events, name }, unreadMs))) continue;
    await deleteConsumer(connection, streams.events, name);
    removed.push(name);
  }
  return removed;
}
