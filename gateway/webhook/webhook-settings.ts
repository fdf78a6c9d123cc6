import type { InflateSettings } from '../http/inflate.ts';

/** Maximum difference between the time in a signature and now, in ms, in either direction. */
export const signatureAgeMsMax = 300_000;

export type WebhookSettings = {
  /** Maximum number of events in one request. */
  readonly eventsMax: number;
  /** Maximum number of object keys in a request with several events. */
  readonly arrayKeysMax: number;
  readonly signatureAgeMsMax: number;
  /** Limits of decompression, except the maximum size of the result. */
  readonly gzip: Omit<InflateSettings, 'bytesMax'>;
};
