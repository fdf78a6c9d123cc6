import { setTimeout as wait } from 'node:timers/promises';
import { NatsError } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import type { LogMessage } from './log-message.ts';

/**
 * Header of a frame: its writer, and the sequence of the newest frame that the log acknowledged to that writer on the
 * subject; 0 for the first. A server silently skips a message that it cannot read, and the sequences of a subject have
 * gaps anyway, so each frame names the frame that its readers must have received before it.
 */
export const predecessorHeader = 'Sluice-After';

/** What a writer remembers of the frames it stored. */
export type Predecessors = {
  /** The header's value for the next frame of a subject. */
  next(subject: string): string;
  stored(subject: string, seq: number): void;
};

/** A message that was acknowledged to its writer, and that the log no longer has. */
export type LostMessage = { readonly stream: string; readonly subject: string; readonly seq: number };

/** Watches for frames that a reader should have received. */
export type LossWatch = {
  /** Call it for every frame as it arrives. */
  note(frame: Pick<LogMessage, 'subject' | 'seq' | 'header'>): void;
  /** Call it when the reader has skipped frames up to a sequence: the log may remove them unread. */
  skipped(upTo: number): void;
};

/** Maximum number of remembered subjects or writers; losses of forgotten ones are not detected. */
const rememberedMax = 10_000;
const askAgainMs = 1_000;

export function createPredecessors(): Predecessors {
  const writer = crypto.randomUUID().slice(0, 13);
  const newest = new Map<string, number>();
  return {
    next: (subject) => `${writer} ${newest.get(subject) ?? 0}`,
    stored: (subject, seq) => remember(newest, subject, Math.max(seq, newest.get(subject) ?? 0)),
  };
}

/**
 * Reports messages that the log acknowledged to their writer and that this reader did not receive, although it received
 * earlier and later messages of that writer. The log is asked first: a message that it still has is only late.
 */
export function watchForLoss(
  connection: LogConnection,
  stream: string,
  onLost: (lost: LostMessage) => void,
): LossWatch {
  const newest = new Map<string, number>();
  let skippedUpTo = 0;
  return {
    note({ subject, seq, header }) {
      const [writer = '', after = ''] = header(predecessorHeader)?.split(' ') ?? [];
      if (writer === '') return;
      const key = `${subject} ${writer}`;
      const last = newest.get(key);
      remember(newest, key, Math.max(seq, last ?? 0));
      const expected = Number(after);
      if (last === undefined || !(expected > Math.max(last, skippedUpTo))) return;
      void isLost(connection, { stream, subject, seq: expected }, writer).then((lost) => {
        if (lost) onLost({ stream, subject, seq: expected });
      });
    },
    skipped(upTo) {
      skippedUpTo = Math.max(skippedUpTo, upTo);
    },
  };
}

async function isLost(connection: LogConnection, { stream, seq }: LostMessage, writer: string): Promise<boolean> {
  while (!connection[client].nc.isClosed()) {
    try {
      const { header } = await connection[client].jsm.streams.getMessage(stream, { seq });
      // If the log lost its newest messages and continued, another message may have this sequence.
      return header.get(predecessorHeader).split(' ', 1)[0] !== writer;
    } catch (error) {
      if (error instanceof NatsError && error.api_error !== undefined) return true;
      await wait(askAgainMs);
    }
  }
  return false;
}

function remember(newest: Map<string, number>, key: string, seq: number): void {
  if (newest.size >= rememberedMax && !newest.has(key)) newest.clear();
  newest.set(key, seq);
}
