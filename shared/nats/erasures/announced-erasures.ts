import { decodeErasureNotice } from '../../contracts/erasure-notice.ts';
import type { ErasureNotice } from '../../contracts/erasure-notice.ts';
import { erasuresOfAll } from '../../contracts/subjects.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readMessages } from '../messages/read-messages.ts';
import { readErasuresState, streams } from '../streams/topology.ts';
import { keyIdOf } from './announce-erasure.ts';

/** The notices that the stream of erasures has. */
export type AnnouncedErasures = {
  /** Id of the key of the stream's hashes. */
  readonly keyId: string;
  /** Erasures before this time, in ms since the epoch, have left the stream with age or because it was full. */
  readonly sinceMs: number;
  /** Whether the stream has a notice with its last time. */
  has(notice: Pick<ErasureNotice, 'id' | 'atMs' | 'visitors'>): boolean;
};

/** Distinguishes states of the stream: a restored stream has an earlier end, or was created at another time. */
export type ErasuresEnd = { readonly createdAt: string; readonly lastSeq: number };

export async function readErasuresEnd(connection: LogConnection): Promise<ErasuresEnd> {
  const { createdAt, lastSeq } = await readErasuresState(connection);
  return { createdAt, lastSeq };
}

export const wentBack = (before: ErasuresEnd, now: ErasuresEnd): boolean =>
  now.createdAt !== before.createdAt || now.lastSeq < before.lastSeq;

const messagesPerPull = 256;
const silenceMaxMs = 10_000;

export async function readAnnouncedErasures(
  connection: LogConnection,
  signal: AbortSignal,
): Promise<AnnouncedErasures> {
  const { key, lastSeq } = await readErasuresState(connection);
  const times = new Map<string, number>();
  let sinceMs: number | undefined;
  if (lastSeq > 0) {
    await readMessages(connection, {
      stream: streams.erasures,
      filterSubject: erasuresOfAll,
      from: { seq: 1, toSeq: lastSeq },
      content: 'all',
      messagesPerPull,
      silenceMaxMs,
      signal,
      onMessage({ data, seq, storedAtMs }) {
        sinceMs ??= seq === 1 ? 0 : storedAtMs;
        const notice = decodeErasureNotice(data);
        if (notice !== undefined) times.set(placeOf(notice), notice.atMs);
      },
    });
  }
  return { keyId: keyIdOf(key), sinceMs: sinceMs ?? 0, has: (notice) => times.get(placeOf(notice)) === notice.atMs };
}

/** An erasure of many visitors has several notices, with other visitors each. */
const placeOf = ({ id, visitors }: Pick<ErasureNotice, 'id' | 'visitors'>): string => `${id}.${visitors[0]}`;
