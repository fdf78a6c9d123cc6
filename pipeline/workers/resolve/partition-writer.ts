import { LogConnectError } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { isNotFound, isNotPermitted } from '../../../shared/nats/connection/server-error.ts';
import { deduplicationSubject, eventsOfPartition } from '../../../shared/contracts/subjects.ts';
import { reportLoss } from '../../../shared/nats/messages/lost-messages.ts';
import { predecessorHeader } from '../../../shared/nats/messages/predecessors.ts';
import { readMessages } from '../../../shared/nats/messages/read-messages.ts';
import { lastStored, msgIdHeader, purgeSubject, storedAt } from '../../../shared/nats/messages/subject-log.ts';
import type { StoredId } from '../../../shared/nats/messages/subject-log.ts';
import { publishBatch } from '../../../shared/nats/publish/publish-batch.ts';
import { PublishError, asPublishError, expectedLastHeader, publish } from '../../../shared/nats/publish/publisher.ts';
import type { OutgoingMessage, Published } from '../../../shared/nats/publish/publisher.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import type { StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { streamOf, streams } from '../../../shared/nats/streams/topology.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { ResolverSettings } from './resolver-settings.ts';

/** EVENTS has lost a frame of this partition whose ids are in deduplication: the table must be filled again. */
export class EventsLostError extends Error {
  readonly code = 'events_lost';
}

/** Another resolver has written to the partition. This one must stop; the log has refused its messages since then. */
export class OtherWriterError extends Error {
  readonly code = 'other_writer';
}

export type WriterContext = {
  readonly partition: number;
  readonly connection: LogConnection;
  readonly settings: Pick<ResolverSettings, 'publishTimeoutMs' | 'rebuildSilenceMaxMs'>;
  readonly logger: Logger;
  readonly counts: { publish_retries: number; lost_frames: number };
  readonly signal: AbortSignal;
  /** Throws if another resolver owns the partition. */
  confirm(): Promise<void>;
};

const messagesPerPull = 2_000;
const neverStored: StoredId = { seq: 0, msgId: '' };

/**
 * Writes to the subjects of one partition. Each message names the sequence that is the last on its subject, and the log
 * refuses the message if another one is the last: so a resolver that was paused and lost the partition can store
 * nothing. The same sequence shows whether a message whose answer was lost is in the log, and whether the log lost a
 * message that it had acknowledged.
 */
export class PartitionWriter {
  readonly #context: WriterContext;
  readonly #id = crypto.randomUUID().slice(0, 13);
  /** The last message of each subject: one entry for each account with events in this partition. */
  readonly #last = new Map<string, StoredId>();
  /** The partition's last frame in EVENTS. */
  #newest = neverStored;
  /** The last frame before a connection broke, or before a sequence was assigned twice: EVENTS may have lost it. */
  #atStake: StoredId | undefined;
  readonly #offDisconnect: () => void;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#offDisconnect = context.connection.onDisconnect(() => {
      this.#atStake ??= this.#newest;
    });
  }

  /** Reads the last message of each subject. The next publish notices if another resolver has written since. */
  async open(): Promise<void> {
    const { connection, partition, settings, signal } = this.#context;
    await readMessages(connection, {
      stream: streams.events,
      filterSubject: eventsOfPartition(partition),
      from: 'last-of-each-subject',
      content: 'headers',
      messagesPerPull,
      silenceMaxMs: settings.rebuildSilenceMaxMs,
      signal,
      onMessage: ({ subject, seq, header }) => {
        const last = { seq, msgId: header(msgIdHeader) ?? '' };
        this.#last.set(subject, last);
        this.#newest = last;
      },
    });
  }

  /** Call with frames that were written to EVENTS, in their order there. */
  written(frames: readonly StoredId[]): void {
    for (const { seq, msgId } of frames) {
      // A log that assigns a sequence twice has lost the first message.
      if (seq <= this.#newest.seq) this.#atStake ??= this.#newest;
      this.#newest = { seq, msgId };
    }
  }

  close(): void {
    this.#offDisconnect();
  }

  /**
   * Publishes a message until the log has it, exactly once. `duplicate` means that the log had it before the first try.
   * Throws OtherWriterError or EventsLostError.
   */
  publish(message: OutgoingMessage): Promise<Published> {
    const { counts, logger, signal } = this.#context;
    return retry(() => this.#tryOnce(message), {
      signal,
      isPassing: (error) => error instanceof PublishError,
      onRetry: (error, attempt) => {
        counts.publish_retries += 1;
        if (isWorthTelling(attempt))
          logger.warn({ subject: message.subject, err: error }, 'publishing to the log failed; retrying');
      },
    });
  }

  /**
   * Tries once to store messages of different subjects as a batch. Returns undefined after a failure: then publish each
   * message by itself, which finds out which ones were stored.
   */
  async publishTogether(messages: readonly OutgoingMessage[]): Promise<readonly number[] | undefined> {
    const { connection, counts, settings } = this.#context;
    try {
      const next = await Promise.all(messages.map((message) => this.#behindLast(message)));
      const seqs = await publishBatch(connection, next, settings.publishTimeoutMs);
      for (const [index, { subject, msgId }] of messages.entries()) {
        this.#last.set(subject, { seq: seqs[index] ?? 0, msgId });
      }
      return seqs;
    } catch (error) {
      if (!(error instanceof PublishError)) throw error;
      counts.publish_retries += 1;
      return undefined;
    }
  }

  /**
   * After a lost connection, checks that EVENTS still has the last frame. If not, throws EventsLostError: the ids of a
   * lost frame are in the table, so its events would be dropped as duplicates when redelivered.
   */
  async verify(): Promise<void> {
    const { connection, counts, logger, partition, signal } = this.#context;
    const atStake = this.#atStake;
    if (atStake === undefined || atStake.seq === 0) return;
    const isGone = await retry(
      async () => {
        if (!connection.connected) throw new LogConnectError('reading the log: not connected');
        return isLost(connection, atStake, await readStreamState(connection, streams.events));
      },
      {
        signal,
        isPassing: () => true,
        onRetry: (error, attempt) => {
          if (isWorthTelling(attempt)) logger.warn({ partition, err: error }, 'reading the log failed; retrying');
        },
      },
    );
    if (!isGone) {
      this.#atStake = undefined;
      return;
    }
    counts.lost_frames += 1;
    const lost = { stream: streams.events, subject: eventsOfPartition(partition), seq: atStake.seq };
    reportLoss({ connection, logger, fields: { partition } }, lost);
    throw new EventsLostError(
      `writing to ${lost.subject}: the log has lost sequence ${lost.seq}, which it had acknowledged`,
    );
  }

  async #tryOnce(message: OutgoingMessage): Promise<Published> {
    const { connection, settings } = this.#context;
    const { subject, msgId } = message;
    try {
      const next = await this.#behindLast(message);
      const published = await publish(connection, subject, next.payload, {
        ...next,
        timeoutMs: settings.publishTimeoutMs,
      });
      // For a message that the log already has, the answer has its old sequence, which later messages may follow.
      if (!published.duplicate || published.seq > (this.#last.get(subject) ?? neverStored).seq)
        this.#last.set(subject, { seq: published.seq, msgId });
      return published;
    } catch (error) {
      if (!(error instanceof PublishError) || error.reason !== 'not_last') throw error;
      const last = await this.#readLast(subject);
      // An earlier try was stored, and its answer was lost.
      if (last.msgId === msgId) {
        this.#last.set(subject, last);
        return { seq: last.seq, duplicate: false };
      }
      await this.#follow(subject, last);
      throw error;
    }
  }

  /** Call when the log refused a message because `last`, not the expected message, is the last one of its subject. */
  async #follow(subject: string, last: StoredId): Promise<void> {
    const { partition, confirm } = this.#context;
    const expected = this.#last.get(subject) ?? neverStored;
    if (last.seq > expected.seq) {
      await this.#removeCheckpoints(subject);
      throw new OtherWriterError(
        `publishing to ${subject}: another resolver of partition ${partition} has written sequence ${last.seq} after ${expected.seq}`,
      );
    }
    this.#atStake ??= this.#newest;
    await this.verify();
    // Retention removed the expected message, so nothing on the subject shows who owns the partition.
    await confirm();
    this.#last.set(subject, last);
  }

  /**
   * Checkpoints of this resolver may cover a frame of the other one that it has not read: without them the next start
   * reads EVENTS. Throws if this resolver has lost the partition, because they are its successor's then.
   */
  async #removeCheckpoints(subject: string): Promise<void> {
    const { connection, partition, confirm } = this.#context;
    await confirm();
    try {
      await purgeSubject(connection, streams.deduplication, deduplicationSubject(partition));
    } catch (error) {
      if (!isNotFound(error) && !isNotPermitted(error)) throw asPublishError(subject, error);
    }
  }

  async #behindLast(message: OutgoingMessage): Promise<OutgoingMessage> {
    const { subject, headers } = message;
    // For EVENTS, the start has read the last message of every subject.
    const isKnown = this.#last.has(subject) || streamOf(subject) === streams.events;
    if (!isKnown) this.#last.set(subject, await this.#readLast(subject));
    const { seq } = this.#last.get(subject) ?? neverStored;
    return {
      ...message,
      headers: { ...headers, [predecessorHeader]: `${this.#id} ${seq}`, [expectedLastHeader]: String(seq) },
    };
  }

  async #readLast(subject: string): Promise<StoredId> {
    const { connection } = this.#context;
    // A request that is written while disconnected is lost, and would only wait for its deadline.
    if (!connection.connected) throw new PublishError('disconnected', subject);
    try {
      return (await lastStored(connection, streamOf(subject) ?? '', subject)) ?? neverStored;
    } catch (error) {
      throw asPublishError(subject, error);
    }
  }
}

/**
 * Whether the log has lost a message: the log ends before the message's sequence, or has another message there. If no
 * message is there, retention removed it, and it is not lost: retention removes by account, so older messages of
 * another account may still exist.
 */
export async function isLost(
  connection: LogConnection,
  { seq, msgId }: StoredId,
  { lastSeq }: Pick<StreamState, 'lastSeq'>,
): Promise<boolean> {
  if (lastSeq < seq) return true;
  const found = await storedAt(connection, streams.events, seq);
  return found !== undefined && found.msgId !== msgId;
}
