import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { ConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';

/** When the oldest frame each consumer of a stream has not finished was stored. */
export type OldestFrames = {
  /** Looks again where a consumer has moved on since. */
  look(consumers: readonly ConsumerProgress[]): Promise<void>;
  /** In ms since the epoch; undefined where nothing waits or it is not known yet. */
  of(consumer: string): number | undefined;
};

// A look reads whole frames: those not looked at for longest come first, the others keep what they had.
const readsPerLook = 64;
const readsAtOnce = 8;

type Known = { readonly ackedSeq: number; readonly storedAtMs: number; readonly readAtMs: number };

export function createOldestFrames(connection: LogConnection, stream: string): OldestFrames {
  const known = new Map<string, Known>();
  const read = async ({ name, filterSubject, ackedSeq }: ConsumerProgress): Promise<void> => {
    const oldest = await readNext(connection, stream, filterSubject, ackedSeq + 1);
    if (oldest === undefined) known.delete(name);
    else known.set(name, { ackedSeq, storedAtMs: oldest.storedAtMs, readAtMs: performance.now() });
  };
  return {
    of: (consumer) => known.get(consumer)?.storedAtMs,
    async look(consumers) {
      const behind = consumers.filter(({ waiting, unacknowledged }) => waiting + unacknowledged > 0);
      const names = new Set(behind.map(({ name }) => name));
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
      const due = behind
        .filter(({ name, ackedSeq }) => known.get(name)?.ackedSeq !== ackedSeq)
        .toSorted((a, b) => (known.get(a.name)?.readAtMs ?? 0) - (known.get(b.name)?.readAtMs ?? 0))
        .slice(0, readsPerLook);
      for (let at = 0; at < due.length; at += readsAtOnce) {
        await Promise.all(due.slice(at, at + readsAtOnce).map(read));
      }
    },
  };
}
