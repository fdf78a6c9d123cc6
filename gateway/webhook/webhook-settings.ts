import type { InflateSettings } from '../http/inflate.ts';

/** Multipart bodies of webhooks that are read at a time. */
export const multipartInFlightMax = 32;
/** How far the time in a signature may lie from now, either way. */
export const signatureAgeMsMax = 300_000;

export type WebhookSettings = {
  /** Events of one request. */
  readonly eventsMax: number;
  /** Object keys of a request with several. */
  readonly arrayKeysMax: number;
  readonly signatureAgeMsMax: number;
  readonly multipartInFlightMax: number;
  /** What a compressed body may become. */
  readonly gzip: Omit<InflateSettings, 'bytesMax'>;
};
