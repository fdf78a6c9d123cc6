import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { every } from '../../../../shared/runtime/every.ts';
import type { Periodic } from '../../../../shared/runtime/every.ts';
import type { VisitorOrder } from './visitor-order.ts';
import type { Head, HeadPlace, WaitingHead } from './waiting-visitors.ts';

export type LostHeadsOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly order: Pick<VisitorOrder, 'heads' | 'isStoring' | 'dropLost'>;
  /** Whether the reader of the retry log has finished a message, so that it never sends the message again. */
  readonly isFinished: (place: HeadPlace) => boolean;
  readonly everyMs: number;
  /** Called with the number of lost heads, if there are any. */
  readonly onLost: (heads: number) => void;
  readonly warn: (error: unknown) => void;
};

/**
 * Checks that every head (an event for which other events of its visitor wait) has a message in the retry log, or is
 * being stored: otherwise the other events would wait forever. A tier is first in, first out, so a message whose
 * sequence is below that of the oldest message no longer exists. A head that was never stored counts as lost after two
 * checks.
 */
export function watchLostHeads({ order, isFinished, everyMs, onLost, warn, ...log }: LostHeadsOptions): Periodic {
  let unplacedBefore = new Set<Head>();
  const check = async (): Promise<void> => {
    const heads = order.heads();
    const ahead = heads.flatMap(({ place }) => (place === undefined || isFinished(place) ? [] : place.tier));
    const oldest = new Map<number, number>();
    for (const tier of new Set(ahead)) oldest.set(tier, await oldestSeq(log, tier));
    const isLost = ({ visitorId, key, place, head }: WaitingHead): boolean => {
      if (place === undefined) return unplacedBefore.has(head) && !order.isStoring({ visitorId, key });
      return isFinished(place) || place.seq < (oldest.get(place.tier) ?? 0);
    };
    let lost = 0;
    for (const head of heads) if (isLost(head) && order.dropLost(head)) lost += 1;
    unplacedBefore = new Set(heads.filter(({ place }) => place === undefined).map(({ head }) => head));
    if (lost > 0) onLost(lost);
  };
  return every(everyMs, () => check().catch(warn));
}

/** The sequence of the oldest message in a tier; Infinity if the tier is empty. */
async function oldestSeq(
  { connection, destinationId }: Pick<LostHeadsOptions, 'connection' | 'destinationId'>,
  tier: number,
): Promise<number> {
  const oldest = await readNext(connection, streams.retry, retrySubject(destinationId, tier), 1);
  return oldest?.seq ?? Infinity;
}
