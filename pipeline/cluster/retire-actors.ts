import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { deleteConsumer } from '../../shared/nats/consume/consumers.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { purgeSubject } from '../../shared/nats/messages/subject-log.ts';
import { dispatcherConsumer, resultsConsumer, retriesOfDestination } from '../../shared/contracts/subjects.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { actorIdOf } from '../threads/messages.ts';
import type { AccountActor } from './follow-accounts.ts';

/** Removes what an account's actor leaves in the log: its consumer and its retries, not its dead letters. */
export async function retireActor(connection: LogConnection, spec: AccountActor): Promise<void> {
  await deleteConsumer(connection, streams.events, consumerOf(spec));
  if (spec.kind === 'dispatcher') {
    await purgeSubject(connection, streams.retry, retriesOfDestination(spec.destinationId));
  }
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
    const spec = actorOfConsumer(name, accountId);
    if (spec !== undefined && !actors.has(actorIdOf(spec))) forgotten.push(spec);
  }
  return forgotten;
}

function consumerOf(spec: AccountActor): string {
  switch (spec.kind) {
    case 'dispatcher':
      return dispatcherConsumer(spec.destinationId);
    case 'results':
      return resultsConsumer(spec.accountId);
  }
}

/** Undefined for a consumer of somebody else. */
function actorOfConsumer(name: string, accountId: string): AccountActor | undefined {
  const prefix = dispatcherConsumer('x').slice(0, -1);
  if (name.startsWith(prefix)) {
    return { kind: 'dispatcher', accountId, destinationId: name.slice(prefix.length), publishedAtMs: 0 };
  }
  return name === resultsConsumer(accountId) ? { kind: 'results', accountId, publishedAtMs: 0 } : undefined;
}
