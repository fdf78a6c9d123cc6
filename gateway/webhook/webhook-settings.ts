import type { InflateSettings } from '../http/inflate.ts';
import { count } from '../../shared/runtime/variables.ts';

export const webhookEnv = {
  WEBHOOK_EVENTS_MAX: count('Events of one webhook request', 1_000),
  WEBHOOK_MULTIPART_IN_FLIGHT_MAX: count('Multipart bodies of webhooks read at a time', 32),
  WEBHOOK_SIGNATURE_AGE_MS_MAX: count(
    'How far the time in a signature of a webhook request may lie from now, either way',
    300_000,
    { unit: 'ms', minimum: 1_000 },
  ),
};

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
