import { gunzip } from 'node:zlib';
import type { AddressShares } from './address-shares.ts';

export type InflateSettings = {
  readonly bytesMax: number;
  /** How many times larger than its compressed form a body may be. */
  readonly ratioMax: number;
  /** Bodies decompressed at a time, one unit each; all routes share it. */
  readonly inFlight: AddressShares;
};

export type Inflated =
  | { readonly kind: 'body'; readonly body: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'malformed' };

/** Small bodies may compress as well as they like. */
const ratioFreeBytes = 64 * 1024;

/** Decompresses gzip bodies off the main thread, a few at a time, and none beyond its limits. */
export class Inflater {
  readonly #settings: InflateSettings;

  constructor(settings: InflateSettings) {
    this.#settings = settings;
  }

  /** Calls `done` later; false when too many are at it already, of this address or of all. `compressed` must stay as it is meanwhile. */
  inflate(compressed: Buffer, address: string, done: (result: Inflated) => void): boolean {
    const { bytesMax, ratioMax, inFlight } = this.#settings;
    if (!inFlight.take(address, 1)) return false;
    const maxOutputLength = Math.min(bytesMax, Math.max(compressed.length * ratioMax, ratioFreeBytes));
    gunzip(compressed, { maxOutputLength }, (error, body) => {
      inFlight.release(address, 1);
      done(error === null ? { kind: 'body', body } : { kind: isTooLarge(error) ? 'too_large' : 'malformed' });
    });
    return true;
  }
}

const isTooLarge = (error: Error & { code?: string }): boolean => error.code === 'ERR_BUFFER_TOO_LARGE';
