import type { Static } from 'typebox';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { listKeys } from '../connection/list-keys.ts';
import { isNotFound } from '../connection/server-error.ts';
import type { LossWatch, LostMessage } from './predecessors.ts';
import { watchForLoss } from './predecessors.ts';
import { buckets } from '../streams/topology.ts';
import type { Logger } from '../../runtime/logger.ts';

const noteSchema = Type.Object({
  stream: Type.String(),
  subject: Type.String(),
  seq: Type.Integer(),
  noticedAtMs: Type.Number(),
});
const check = Compile(noteSchema);

/** A loss that a reader detected, kept for a month so that the doctor can name it. */
export type LossNote = Static<typeof noteSchema>;

const prefix = 'loss';
/** Maximum number of loss entries read. */
const listedMax = 1_000;

/** Stores a loss for the doctor. Every reader that detects it writes the same entry. */
export async function keepLoss(connection: LogConnection, { stream, subject, seq }: LostMessage): Promise<void> {
  const note: LossNote = { stream, subject, seq, noticedAtMs: Date.now() };
  const kv = await connection[client].js.views.kv(buckets.health, { bindOnly: true });
  await kv.put(`${prefix}.${stream}.${seq}`, JSON.stringify(note));
}

/** The recent losses, by stream and sequence. */
export async function listLosses(connection: LogConnection): Promise<readonly LossNote[]> {
  try {
    const kv = await connection[client].js.views.kv(buckets.health, { bindOnly: true });
    const notes: LossNote[] = [];
    for (const key of (await listKeys(kv, `${prefix}.>`)).slice(0, listedMax)) {
      const note: unknown = (await kv.get(key))?.json();
      if (check.Check(note)) notes.push(note);
    }
    return notes.toSorted((a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

type LossReporting = {
  readonly connection: LogConnection;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
  /** Log fields that identify the reader. */
  readonly fields: Readonly<Record<string, unknown>>;
};

/**
 * Watches the messages that a reader of a stream receives. For each message that the log lost, calls `onLost` and
 * reports it.
 */
export function noticeLosses(reporting: LossReporting & { readonly stream: string }, onLost: () => void): LossWatch {
  return watchForLoss(reporting.connection, reporting.stream, (lost) => {
    onLost();
    reportLoss(reporting, lost);
  });
}

/** Logs that the log has lost a message, and stores the loss for the doctor. */
export function reportLoss({ connection, logger, fields }: LossReporting, lost: LostMessage): void {
  logger.error({ ...fields, ...lost }, 'the log lost a message that it had acknowledged');
  keepLoss(connection, lost).catch((error: unknown) => {
    logger.warn({ ...fields, err: error }, 'recording a loss for the doctor failed');
  });
}
