import { every } from '../../../shared/runtime/every.ts';

const deleteEveryMs = 600_000;

export type FigureWriter = {
  /** Stops the timers and writes once more. */
  close(): Promise<void>;
};

export type FigureWriting = {
  readonly everyMs: number;
  /** Writes the figures since the last call. Never rejects. */
  write(): Promise<void>;
  /** Deletes old rows; set for only one resolver, which deletes the rows of all. Never rejects. */
  readonly deleteOld?: (() => Promise<void>) | undefined;
};

/** Writes figures of a resolver in the background: the resolver never waits for the database. */
export function startFigureWriter({ everyMs, write, deleteOld }: FigureWriting): FigureWriter {
  const writing = every(everyMs, write);
  const deleting = deleteOld === undefined ? undefined : every(deleteEveryMs, deleteOld, { atOnce: true });
  return {
    async close() {
      await Promise.all([writing.stop(), deleting?.stop()]);
      await write();
    },
  };
}
