import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { every } from '../../../../shared/runtime/every.ts';
import type { VisitorOrder } from './visitor-order.ts';
import type { PlacedHead } from './waiting-visitors.ts';

export type LostHeadsOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly order: Pick<VisitorOrder, 'placedHeads' | 'dropLost'>;
  readonly everyMs: number;
  /** Called with how many heads were lost, when some were. */
  readonly onLost: (heads: number) => void;
  readonly warn: (error: unknown) => void;
};

/**
 * Checks, now and then, that the retry log has a message for every event that others of its visitor wait behind: after
 * one that is gone they would wait for ever. A tier is first in, first out, so a message before the oldest one is gone.
 */
export function watchLostHeads({ order, everyMs, onLost, warn, ...log }: LostHeadsOptions) {
  const check = async (): Promise<void> => {
    const heads = order.placedHeads();
    let lost = 0;
    for (const tier of new Set(heads.map(({ place }) => place.tier))) {
      const oldest = await oldestSeq(log, tier);
      const isGone = ({ place }: PlacedHead): boolean => place.tier === tier && place.seq < oldest;
      for (const head of heads) if (isGone(head) && order.dropLost(head)) lost += 1;
    }
    if (lost > 0) onLost(lost);
  };
  return every(everyMs, () => check().catch(warn));
}

/** Infinity for a tier that holds nothing. */
async function oldestSeq(
  { connection, destinationId }: Pick<LostHeadsOptions, 'connection' | 'destinationId'>,
  tier: number,
): Promise<number> {
  const oldest = await readNext(connection, streams.retry, retrySubject(destinationId, tier), 1);
  return oldest?.seq ?? Infinity;
}
