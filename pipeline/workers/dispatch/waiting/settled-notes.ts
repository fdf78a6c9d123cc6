import { randomUUID } from 'node:crypto';
import {
  decodeSettledNote,
  encodeSettledNote,
  settledNoteTier,
} from '../../../../shared/contracts/events/retry-record.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { deleteMessages, readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { publish } from '../../../../shared/nats/publish/publisher.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import type { RetryPlace } from '../events/referenced-events.ts';

/** Maximum number of settled events in one note, so that the note fits into a message. */
const settledEventsMax = 50_000;
const noteTimeoutMs = 5_000;

/**
 * Notes in the retry log of a destination that list the settled lines of frames with parked events. A frame leaves the
 * log as a whole, so without a note its settled events would be sent again after a restart. The newest note covers all
 * frames.
 */
export class SettledNotes {
  readonly #connection: LogConnection;
  readonly #subject: string;
  /** Sequences of the notes in the log, oldest first. */
  #seqs: number[] = [];
  #before: ReadonlyMap<number, readonly number[]> = new Map();

  constructor({ connection, destinationId }: { readonly connection: LogConnection; readonly destinationId: string }) {
    this.#connection = connection;
    this.#subject = retrySubject(destinationId, settledNoteTier);
  }

  /** Reads the events that the previous process had settled. Returns whether there is a note. */
  async read(): Promise<boolean> {
    for (;;) {
      const found = await readNext(this.#connection, streams.retry, this.#subject, (this.#seqs.at(-1) ?? 0) + 1);
      if (found === undefined) return this.#seqs.length > 0;
      this.#seqs.push(found.seq);
      this.#before = decodeSettledNote(found.data);
    }
  }

  /** Whether an event was settled before this process began. */
  isSettled({ seq, index }: RetryPlace): boolean {
    return this.#before.get(seq)?.includes(index) === true;
  }

  /** Replaces the notes by one that covers all given frames. Each frame is given with its sequence. */
  async write(frames: Iterable<readonly [seq: number, frame: { readonly settled: readonly number[] }]>): Promise<void> {
    const settled = new Map<number, readonly number[]>();
    let events = 0;
    for (const [seq, frame] of frames) {
      events += frame.settled.length;
      if (events > settledEventsMax) break;
      if (frame.settled.length > 0) settled.set(seq, frame.settled);
    }
    const older = [...this.#seqs];
    if (settled.size > 0) {
      const options = { msgId: randomUUID(), timeoutMs: noteTimeoutMs };
      const { seq } = await publish(this.#connection, this.#subject, encodeSettledNote(settled), options);
      this.#seqs.push(seq);
    }
    await deleteMessages(this.#connection, streams.retry, older, (seq) => {
      this.#seqs = this.#seqs.filter((one) => one !== seq);
    });
  }
}
