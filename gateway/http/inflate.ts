import { createGunzip } from 'node:zlib';
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
  /** Its beginning was not wanted. */
  | { readonly kind: 'unwanted' }
  | { readonly kind: 'malformed' };

export type InflateOrder = {
  /** It must stay as it is until it is decompressed. */
  readonly compressed: Buffer;
  /** Whose share it is of. */
  readonly address: string;
  /** Asked about the beginning of a body; what is not wanted is decompressed no further. The bytes are the body's own. */
  isWanted?(beginning: Buffer): boolean;
  /** Called later. */
  done(result: Inflated): void;
};

/** What is decompressed between two looks at it. */
const pieceBytes = 64 * 1024;
/** Small bodies may compress as well as they like. */
const ratioFreeBytes = 64 * 1024;

/** Decompresses gzip bodies off the main thread, a few at a time, and none beyond its limits. */
export class Inflater {
  readonly #settings: InflateSettings;

  constructor(settings: InflateSettings) {
    this.#settings = settings;
  }

  /** False when too many are at it already, of this address or of all. */
  inflate({ compressed, address, isWanted, done }: InflateOrder): boolean {
    const { bytesMax, ratioMax, inFlight } = this.#settings;
    if (!inFlight.take(address, 1)) return false;
    const outputMax = Math.min(bytesMax, Math.max(compressed.length * ratioMax, ratioFreeBytes));
    const pieces: Buffer[] = [];
    let bytes = 0;
    const gunzip = createGunzip({ chunkSize: pieceBytes });
    let isOver = false;
    const end = (result: Inflated): void => {
      if (isOver) return;
      isOver = true;
      gunzip.destroy();
      inFlight.release(address, 1);
      done(result);
    };
    gunzip.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > outputMax) end({ kind: 'too_large' });
      else if (pieces.length === 1 && isWanted?.(piece) === false) end({ kind: 'unwanted' });
    });
    gunzip.on('end', () =>
      end({ kind: 'body', body: pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, bytes) }),
    );
    gunzip.on('error', () => end({ kind: 'malformed' }));
    gunzip.end(compressed);
    return true;
  }
}
