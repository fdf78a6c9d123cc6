import type { Static, TObject } from 'typebox';
import { jsonDepthCeiling } from '../../shared/runtime/json-depth.ts';
import { count } from '../../shared/runtime/variables.ts';
import type { admissionEnv } from '../ingest/admission.ts';
import type { webhookEnv } from '../webhook/webhook-settings.ts';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import type { CompatVariables } from './compat/compat-settings.ts';
import type { RoutesOptions } from './registry.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** Room beside an event's body for its envelope and the log's own header, in bytes. */
const envelopeBytesMax = 32 * kibibyte;

export const routesEnv = {
  TRACK_BODY_BYTES_MAX: count('Size of a body of track, identify or a webhook', mebibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  BATCH_BODY_BYTES_MAX: count('Size of a batch body, after decompression', 5 * mebibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  BATCH_ROWS_MAX: count('Events of one batch', 1_000),
  ROW_BYTES_MAX: count('Size of one event of a batch', 64 * kibibyte, { unit: 'bytes', minimum: 256 }),
  BATCH_CONTEXT_BYTES_MAX: count(
    'Size of the context that a batch gives once for all of its events; it travels with each of them',
    8 * kibibyte,
    { unit: 'bytes', minimum: 2 },
  ),
  GZIP_RATIO_MAX: count('A compressed body of a batch or a webhook may grow by this factor', 200),
  GZIP_IN_FLIGHT_MAX: count(
    'Bodies decompressed at a time: of batches, webhooks and libraries of other services together',
    16,
  ),
  GZIP_ADDRESS_IN_FLIGHT_MAX: count('Of those, bodies of one address, see TRUSTED_PROXIES', 8),
  JSON_DEPTH_MAX: count('How deep arrays and objects of a body, or of one event of a batch, may nest', 64, {
    minimum: 4,
    maximum: jsonDepthCeiling,
  }),
  JSON_KEYS_MAX: count('Object keys of one event', 10_000),
  BATCH_KEYS_MAX: count('Object keys of one batch, or of a webhook with several events', 100_000),
};

type RoutesVariables = Static<TObject<typeof routesEnv & typeof admissionEnv & typeof webhookEnv>> & CompatVariables;
type RoutesSettings = Pick<RoutesOptions, 'partitions' | 'limits' | 'bodyBytesMax' | 'batch' | 'webhook' | 'compat'>;

/** The largest body of one event that a message of the log can carry. */
export const readEventBytesMax = (env: RoutesVariables, messageBytesMax: number): number =>
  Math.min(env.TRACK_BODY_BYTES_MAX, messageBytesMax - envelopeBytesMax);

/** Bodies decompressed at a time, by all routes together. */
export const createUnpackingLimit = (env: RoutesVariables): ConcurrencyLimit =>
  new ConcurrencyLimit({ max: env.GZIP_IN_FLIGHT_MAX, ofOwnerMax: env.GZIP_ADDRESS_IN_FLIGHT_MAX });

export function readRoutesSettings(
  env: RoutesVariables,
  partitions: number,
  messageBytesMax: number,
  unpacking: ConcurrencyLimit,
): RoutesSettings {
  const timeWindow = { pastMsMax: env.TIME_PAST_MS_MAX, aheadMsMax: env.TIME_AHEAD_MS_MAX };
  const gzip = { ratioMax: env.GZIP_RATIO_MAX, inFlight: unpacking };
  const limits = { depthMax: env.JSON_DEPTH_MAX, keysMax: env.JSON_KEYS_MAX, timeWindow };
  const bodyBytesMax = readEventBytesMax(env, messageBytesMax);
  return {
    partitions,
    limits,
    bodyBytesMax,
    batch: {
      bodyBytesMax: env.BATCH_BODY_BYTES_MAX,
      rowsMax: env.BATCH_ROWS_MAX,
      keysMax: env.BATCH_KEYS_MAX,
      contextBytesMax: env.BATCH_CONTEXT_BYTES_MAX,
      row: { ...limits, bytesMax: Math.min(env.ROW_BYTES_MAX, bodyBytesMax) },
      gzip,
    },
    webhook: {
      eventsMax: env.WEBHOOK_EVENTS_MAX,
      arrayKeysMax: env.BATCH_KEYS_MAX,
      signatureAgeMsMax: env.WEBHOOK_SIGNATURE_AGE_MS_MAX,
      multipartInFlightMax: env.WEBHOOK_MULTIPART_IN_FLIGHT_MAX,
      gzip,
    },
    compat: {
      bodyBytesMax: env.BATCH_BODY_BYTES_MAX,
      rowsMax: env.COMPAT_BATCH_ROWS_MAX,
      eventBytesMax: Math.min(env.ROW_BYTES_MAX, bodyBytesMax),
      // Two levels stand around each message of a batch.
      limits: { depthMax: env.JSON_DEPTH_MAX + 2, keysMax: env.BATCH_KEYS_MAX },
      timeWindow,
      inflate: {
        bytesMax: env.BATCH_BODY_BYTES_MAX,
        // What their libraries send may be a four-hundredth: the size alone bounds it.
        ratioMax: Number.POSITIVE_INFINITY,
        inFlight: unpacking,
      },
    },
  };
}
