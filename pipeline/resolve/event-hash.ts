import { murmur3 } from '../../shared/hashing/murmur3.ts';

/** 64 bits of an event's id within its account, as two halves of 32. */
export type EventHash = { readonly high: number; readonly low: number };

/**
 * Hashes the id of an event. Two halves of MurmurHash3 with independent seeds: among 8 million ids the chance that
 * any two meet is about 1 in 500,000.
 */
export function hashEvent(accountId: string, eventId: string): EventHash {
  return { high: murmur3(eventId, murmur3(accountId, 1)), low: murmur3(eventId, murmur3(accountId, 2)) };
}

/** What a packed hash takes. */
export const bytesPerHash = 8;

/** Packs hashes for a message header. */
export function encodeHashes(hashes: readonly EventHash[]): string {
  const bytes = Buffer.allocUnsafe(hashes.length * bytesPerHash);
  hashes.forEach(({ high, low }, index) => {
    bytes.writeUInt32BE(high, index * bytesPerHash);
    bytes.writeUInt32BE(low, index * bytesPerHash + 4);
  });
  return bytes.toString('base64');
}

/** Unpacks hashes of a message header; a remainder that is no whole hash is left out. */
export function decodeHashes(header: string): EventHash[] {
  const bytes = Buffer.from(header, 'base64');
  const hashes: EventHash[] = [];
  for (let at = 0; at + bytesPerHash <= bytes.length; at += bytesPerHash) {
    hashes.push({ high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4) });
  }
  return hashes;
}
