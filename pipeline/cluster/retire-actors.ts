import { readLiveConfig } from '../../shared/collections/live-config.ts';
import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { deleteConsumer, isRead, isUnread } from '../../shared/nats/consume/consumers.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { purgeSubject } from '../../shared/nats/messages/subject-log.ts';
import { accountKey, retiredEventsConsumers } from '../../shared/contracts/subjects.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { accountActorOf, accountActors, idOfSpec, rememberedActors, traceOf } from '../workers/registry.ts';
import type { AccountActor } from '../workers/registry.ts';
import type { PlaceBuckets } from '../workers/worker/define-worker.ts';

/**
 * Removes from the log what an account's actor leaves: its own data, its position, and its consumer. The consumer is
 * removed last, so that the next process can find an actor whose removal was interrupted.
 */
export async function retireActor(connection: LogConnection, buckets: PlaceBuckets, spec: AccountActor): Promise<void> {
  const { consumer, subjects, forget } = traceOf(spec);
  for (const { stream, subject } of subjects) await purgeSubject(connection, stream, subject);
  await forget(buckets);
  await deleteConsumer(connection, streams.events, consumer);
}

export type RetirementOptions = {
  readonly connection: LogConnection;
  readonly trust: ConfigTrust;
  readonly buckets: { readonly config: Bucket } & PlaceBuckets;
  /**
   * Ids of the actors in live versions, by account, as far as this process knows them; accounts unknown to it are
   * missing.
   */
  wanted(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether this instance is the one that runs an actor. */
  owns(actorId: string): boolean;
  /** Whether this instance follows the configuration, and has applied it up to a revision. */
  hasApplied(revision: number): boolean;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

/** Number of successive rounds in which an actor has to be absent before it is retired. */
const roundsMin = 2;

/**
 * Retires actors that are no longer in a live version. Retiring cannot be undone, and this process's view of an account
 * may be old, so each round reads the account's entry from CONFIG. The actor is retired if it is absent there in
 * several rounds, and nothing reads its consumer any more. An entry that is missing, unsigned or unreadable for this
 * build does not prove that the actor is gone.
 */
export class Retirement {
  readonly #options: RetirementOptions;
  /** Actors that may have to be retired, and the number of rounds in which each was absent. */
  readonly #suspects = new Map<string, { readonly spec: AccountActor; rounds: number }>();
  #hasReadPositions = false;

  constructor(options: RetirementOptions) {
    this.#options = options;
  }

  /** Notes an actor that is missing from the live version known here. Ignores actors that another instance owns. */
  suspect(spec: AccountActor): void {
    const actorId = idOfSpec(spec);
    if (this.#options.owns(actorId) && !this.#suspects.has(actorId)) this.#suspects.set(actorId, { spec, rounds: 0 });
  }

  /** Finds actors that were removed while no pipeline ran: what they left would keep messages in the log. */
  async findForgotten(): Promise<void> {
    const consumers = await listConsumerProgress(this.#options.connection, streams.events);
    // Read after the consumers, so that an actor published in between is not a suspect.
    const wanted = this.#options.wanted();
    const found = consumers.map(({ name, filterSubject }) => accountActorOf(name, filterSubject.split('.')[1] ?? ''));
    // A log server that restarted may have lost the consumers. Later removals are noticed as they happen.
    if (!this.#hasReadPositions) {
      const live = new Set([...wanted.values()].flatMap((actorIds) => [...actorIds]));
      found.push(...(await rememberedActors(this.#options.buckets, (actorId) => live.has(actorId))));
      this.#hasReadPositions = true;
    }
    for (const spec of found) {
      if (spec !== undefined && wanted.get(spec.accountId)?.has(idOfSpec(spec)) === false) this.suspect(spec);
    }
  }

  /** Checks each suspect and retires those that were absent often enough. */
  async round(): Promise<void> {
    if (this.#suspects.size === 0) return;
    const wanted = this.#options.wanted();
    const { owns, connection, buckets, logger } = this.#options;
    const published = new Map<string, Promise<Published>>();
    for (const [actorId, suspect] of this.#suspects) {
      const { accountId } = suspect.spec;
      let entry = published.get(accountId);
      if (entry === undefined) published.set(accountId, (entry = this.#readPublished(accountId)));
      const found = await entry;
      const isWanted = wanted.get(accountId)?.has(actorId) === true || (found !== 'unknown' && found.has(actorId));
      if (isWanted || !owns(actorId)) {
        this.#suspects.delete(actorId);
      } else if (found === 'unknown' || (await this.#isRead(suspect.spec))) {
        suspect.rounds = 0;
      } else {
        suspect.rounds += 1;
        if (suspect.rounds < roundsMin) continue;
        await retireActor(connection, buckets, suspect.spec);
        this.#suspects.delete(actorId);
        logger.info({ actor: actorId }, 'removed the consumer of an actor that no longer exists');
      }
    }
  }

  #isRead(spec: AccountActor): Promise<boolean> {
    return isRead(this.#options.connection, { stream: streams.events, name: traceOf(spec).consumer });
  }

  /**
   * Ids of the account's actors in its CONFIG entry, read now; empty if the account was removed, `unknown` if the entry
   * proves nothing.
   */
  async #readPublished(accountId: string): Promise<Published> {
    const { buckets, trust, hasApplied, logger } = this.#options;
    const entry = await buckets.config.get(accountKey(accountId));
    if (entry === undefined || !hasApplied(entry.revision)) return 'unknown';
    try {
      trust.accept(accountId, entry.value);
      if (entry.value === undefined) return new Set();
      return new Set(accountActors(readLiveConfig(decodeAccountConfig(entry.value))).map(idOfSpec));
    } catch (error) {
      logger.warn({ accountId, err: error }, 'configuration cannot be used: no actor is retired by it');
      return 'unknown';
    }
  }
}

type Published = ReadonlySet<string> | 'unknown';

/** A consumer without a pull for this long, in ms, has no reader: pipelines of earlier versions pull more often. */
const unreadMs = 60_000;

/**
 * Removes the consumers that only earlier versions of Sluice used, once no such version reads them. Returns the names
 * of the removed consumers.
 */
export async function removeRetiredConsumers(connection: LogConnection): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of retiredEventsConsumers) {
    if (!(await isUnread(connection, { stream: streams.events, name }, unreadMs))) continue;
    await deleteConsumer(connection, streams.events, name);
    removed.push(name);
  }
  return removed;
}
