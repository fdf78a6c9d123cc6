import type { InflateSettings } from '../http/inflate.ts';

/** Multipart bodies of webhooks that are read at the same time. */
export const multipartInFlightMax = 32;
/** The largest difference between the time in a signature and now, in either direction. */
export const signatureAgeMsMax = 300_000;

export type WebhookSettings = {
  /** Events of one request. */
  readonly eventsMax: number;
  /** Object keys of a request with several events. */
  readonly arrayKeysMax: number;
  readonly signatureAgeMsMax: number;
  readonly multipartInFlightMax: number;
  /** Limits of decompression, except the size of the result. */
  readonly gzip: Omit<InflateSettings, 'bytesMax'>;
};
