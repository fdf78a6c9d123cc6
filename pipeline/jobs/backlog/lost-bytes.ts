import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { readStreamLoss } from '../../../shared/nats/streams/stream-progress.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

export type LostBytesOptions = {
  readonly connection: LogConnection;
  readonly streams: readonly string[];
  readonly logger: Pick<Logger, 'error'>;
};

export type LostBytes = {
  /** What the server has lost of each stream, as it was last asked. */
  look(): Promise<ReadonlyMap<string, number>>;
};

/** A server finds damage when it starts, and when it reads: it is asked after a reconnect, and now and then. */
const everyMs = 60_000;

/** Asks the server what it has lost, and says so when that becomes more. */
export function createLostBytes({ connection, streams, logger }: LostBytesOptions): LostBytes {
  const found = new Map<string, number>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let reconnects = -1;
  return {
    async look() {
      if (connection.reconnects === reconnects && performance.now() - lookedAtMs < everyMs) return found;
      [reconnects, lookedAtMs] = [connection.reconnects, performance.now()];
      for (const stream of streams) {
        const loss = await readStreamLoss(connection, stream);
        if (loss === undefined) continue;
        const { bytes, seqs } = loss;
        if (bytes > (found.get(stream) ?? 0)) {
          logger.error({ stream, bytes, seqs: seqs.slice(0, 100) }, 'nats-server has found a stream damaged');
        }
        found.set(stream, bytes);
      }
      return new Map(found);
    },
  };
}
