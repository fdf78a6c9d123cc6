import type { LogConnection } from '../nats/connection/connection.ts';
import { announceNotices, noticesOfErasure } from '../nats/erasures/announce-erasure.ts';
import type { AnnouncedErasure } from '../nats/erasures/announce-erasure.ts';

/** Announces an erasure as a control plane does, which also keeps the notices. */
export async function announceErasure(connection: LogConnection, erasure: AnnouncedErasure): Promise<void> {
  const { notices } = await noticesOfErasure(connection, erasure);
  await announceNotices(connection, erasure.accountId, notices);
}
