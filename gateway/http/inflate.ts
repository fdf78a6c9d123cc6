import { createGunzip } from 'node:zlib';
import type { ConcurrencyLimit } from '../../shared/limits/index.ts';

export type InflateSettings = {
  readonly bytesMax: number;
  /** Maximum ratio of a body's size to its compressed size. */
  readonly ratioMax: number;
  /** Limits how many bodies are decompressed at a time, each as one unit; shared by all routes. */
  readonly inFlight: ConcurrencyLimit;
};

export type Inflated =
  | { readonly kind: 'body'; readonly body: Buffer }
  | { readonly kind: 'too_large' }
  /** `isWanted` rejected the body's beginning. */
  | { readonly kind: 'unwanted' }
  | { readonly kind: 'malformed' };

export type InflateOrder = {
  /** The bytes must not change until `done` is called. */
  readonly compressed: Buffer;
  /** Address whose limit the body counts against. */
  readonly address: string;
  /** Decides by the beginning of a body whether to decompress the rest. `beginning` is a view, not a copy. */
  isWanted?(beginning: Buffer): boolean;
  /** Called asynchronously. */
  done(result: Inflated): void;
};

/** Bytes decompressed between two checks of the limits. */
const pieceBytes = 64 * 1024;
/** Bodies below this size may have any compression ratio. */
const ratioFreeBytes = 64 * 1024;

/** Decompresses gzip bodies off the main thread, a few at a time, each within its limits. */
export class Inflater {
  readonly #settings: InflateSettings;

  constructor(settings: InflateSettings) {
    this.#settings = settings;
  }

  /** Returns false if too many bodies, of this address or of all addresses, are being decompressed. */
  inflate({ compressed, address, isWanted, done }: InflateOrder): boolean {
    const { bytesMax, ratioMax, inFlight } = this.#settings;
    if (!inFlight.take(address)) return false;
    const outputMax = Math.min(bytesMax, Math.max(compressed.length * ratioMax, ratioFreeBytes));
    const pieces: Buffer[] = [];
    let bytes = 0;
    const gunzip = createGunzip({ chunkSize: pieceBytes });
    let isOver = false;
    const end = (result: Inflated): void => {
      if (isOver) return;
      isOver = true;
      gunzip.destroy();
      inFlight.release(address);
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
