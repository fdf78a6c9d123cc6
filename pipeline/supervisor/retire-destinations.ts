import type { LogConnection } from '../../shared/log/connection.ts';
import { deleteConsumer } from '../../shared/log/consumers.ts';
import { listConsumerProgress } from '../../shared/log/stream-progress.ts';
import { purgeSubject } from '../../shared/log/subject-log.ts';
import { dispatcherConsumer, retriesOfDestination } from '../../shared/log/subjects.ts';
import { streams } from '../../shared/log/topology.ts';

/** Removes what a destination that is published no more leaves in the log: its cursor and its retries, not its dead letters. */
export async function retireDestination(connection: LogConnection, destinationId: string): Promise<void> {
  await deleteConsumer(connection, streams.events, dispatcherConsumer(destinationId));
  await purgeSubject(connection, streams.retry, retriesOfDestination(destinationId));
}

/**
 * Finds destinations that went while no pipeline ran: their cursors would keep the log from being cleaned. Only
 * accounts whose configuration is there are judged, so that a lost bucket costs no cursor.
 */
export async function findForgotten(
  connection: LogConnection,
  published: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<string[]> {
  const prefix = dispatcherConsumer('x').slice(0, -1);
  const forgotten: string[] = [];
  for (const { name, filterSubject } of await listConsumerProgress(connection, streams.events)) {
    const destinations = published.get(filterSubject.split('.')[1] ?? '');
    if (!name.startsWith(prefix) || destinations === undefined) continue;
    const destinationId = name.slice(prefix.length);
    if (!destinations.has(destinationId)) forgotten.push(destinationId);
  }
  return forgotten;
}
