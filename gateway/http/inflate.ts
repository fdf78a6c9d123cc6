import { gunzip } from 'node:zlib';

export type InflateSettings = {
  readonly bytesMax: number;
  /** How many times larger than its compressed form a body may be. */
  readonly ratioMax: number;
  readonly inFlightMax: number;
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
  #inFlight = 0;

  constructor(settings: InflateSettings) {
    this.#settings = settings;
  }

  /** Calls `done` later; false when too many are at it already. `compressed` must stay as it is meanwhile. */
  inflate(compressed: Buffer, done: (result: Inflated) => void): boolean {
    const { bytesMax, ratioMax, inFlightMax } = this.#settings;
    if (this.#inFlight >= inFlightMax) return false;
    this.#inFlight += 1;
    const maxOutputLength = Math.min(bytesMax, Math.max(compressed.length * ratioMax, ratioFreeBytes));
    gunzip(compressed, { maxOutputLength }, (error, body) => {
      this.#inFlight -= 1;
      done(error === null ? { kind: 'body', body } : { kind: isTooLarge(error) ? 'too_large' : 'malformed' });
    });
    return true;
  }
}

const isTooLarge = (error: Error & { code?: string }): boolean => error.code === 'ERR_BUFFER_TOO_LARGE';
