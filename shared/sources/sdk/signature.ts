import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readTime } from './read-time.ts';

/** A request whose signature is to be checked, with the original bytes of the body. */
export type SignedRequest = {
  readonly body: Uint8Array;
  /** The address that the provider called, with its query, as written: `https://…`. */
  readonly url: string;
  /** A header by its lower-case name; empty if the request has none. */
  header(name: string): string;
  /** In ms since the epoch. */
  readonly nowMs: number;
  /** Maximum difference between a signature's time and now, in ms. */
  readonly ageMsMax: number;
};

/** `stale`: signed more than `ageMsMax` ago or ahead, so the request may be a replay. */
export type SignatureVerdict = 'valid' | 'missing' | 'wrong' | 'stale';

/** How a provider authenticates its requests. */
export type SignatureScheme = {
  /** Lower-case names of the headers that `check` reads. */
  readonly headers: readonly string[];
  /** A description in words, for the table of source kinds. */
  readonly label: string;
  /** The provider's name for the secret. */
  readonly secretName: string;
  check(request: SignedRequest, secret: string): SignatureVerdict;
};

type HmacOptions = {
  /** In the provider's spelling. */
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256';
  readonly encoding: 'hex' | 'base64' | 'base64url';
  /** Text in front of the digest. */
  readonly prefix?: string;
  readonly secretName: string;
};

/** A digest of the body alone, without a time, so that only the event id reveals a repeat. */
export function bodySignature({ header, algorithm, encoding, prefix = '', secretName }: HmacOptions): SignatureScheme {
  const name = header.toLowerCase();
  return {
    headers: [name],
    label: `\`${header}\`: ${prefix}${encoding} of HMAC-${algorithm.toUpperCase()} over the body`,
    secretName,
    check({ body, header: read }, secret) {
      const received = read(name).trim();
      if (received === '') return 'missing';
      const digest = createHmac(algorithm, secret).update(body).digest(encoding);
      return isSame(received, prefix + digest) ? 'valid' : 'wrong';
    },
  };
}

type TimedOptions = Omit<HmacOptions, 'prefix'> & {
  /** Lower-case names of all headers that `read` uses. */
  readonly headers: readonly string[];
  readonly label: string;
  /** The digest and time in the request; undefined if one is missing. */
  read(request: SignedRequest): { readonly digest: string; readonly time: string } | undefined;
  /** The signed text. */
  message(request: SignedRequest, time: string): readonly (string | Uint8Array)[];
};

/** A digest that covers a time too, and is valid for a limited period. */
export function timedSignature(options: TimedOptions): SignatureScheme {
  const { algorithm, encoding, headers, label, secretName } = options;
  return {
    headers,
    label,
    secretName,
    check(request, secret) {
      const read = options.read(request);
      if (read === undefined) return 'missing';
      const hmac = createHmac(algorithm, secret);
      for (const part of options.message(request, read.time)) hmac.update(part);
      if (!isSame(read.digest, hmac.digest(encoding))) return 'wrong';
      const timeMs = readTime(read.time);
      // Checked last, because the time of an unsigned request means nothing.
      const isNow = timeMs !== undefined && Math.abs(request.nowMs - timeMs) <= request.ageMsMax;
      return isNow ? 'valid' : 'stale';
    },
  };
}

/** Compares two texts in constant time. */
export function isSame(received: string, expected: string): boolean {
  // Digests are of equal length for any input, as timingSafeEqual requires.
  return timingSafeEqual(digestOf(received), digestOf(expected));
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
