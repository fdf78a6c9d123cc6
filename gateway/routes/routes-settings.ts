import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';
import { readAdmissionSettings } from '../ingest/admission.ts';
import type { admissionEnv } from '../ingest/admission.ts';
import { multipartInFlightMax, signatureAgeMsMax } from '../webhook/webhook-settings.ts';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import { compatRowsMax } from './compat/compat-settings.ts';
import type { RoutesOptions } from './registry.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** Room beside an event's body for its envelope and the log's own header, in bytes. */
const envelopeBytesMax = 32 * kibibyte;
/** The context that a batch gives once for all of its events travels with each of them. */
const contextBytesMax = 8 * kibibyte;
/** A compressed body of a batch or a webhook may grow by this factor. */
const gzipRatioMax = 200;
/** How deep arrays and objects of a body, or of one event of a batch, may nest. */
const depthMax = 64;
/** Bodies decompressed at a time, by all routes together; half of them of one address, see TRUSTED_PROXIES. */
const unpackedMax = 16;
/** Object keys of one event, and of one batch or of a webhook with several events. */
const keysMax = { event: 10_000, batch: 100_000 };

export const routesEnv = {
  TRACK_BODY_BYTES_MAX: count('Size of a body of track, identify or a webhook', mebibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  BATCH_BODY_BYTES_MAX: count('Size of a batch body, after decompression', 5 * mebibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  BATCH_ROWS_MAX: count('Events of one batch, or of one request of a webhook', 1_000),
  ROW_BYTES_MAX: count('Size of one event of a batch', 64 * kibibyte, { unit: 'bytes', minimum: 256 }),
};

type RoutesVariables = Static<TObject<typeof routesEnv & typeof admissionEnv>>;
type RoutesSettings = Pick<RoutesOptions, 'partitions' | 'limits' | 'bodyBytesMax' | 'batch' | 'webhook' | 'compat'>;

/** The largest body of one event that a message of the log can carry. */
export const readEventBytesMax = (env: RoutesVariables, messageBytesMax: number): number =>
  Math.min(env.TRACK_BODY_BYTES_MAX, messageBytesMax - envelopeBytesMax);

/** Bodies decompressed at a time, by all routes together. */
export const createUnpackingLimit = (): ConcurrencyLimit =>
  new ConcurrencyLimit({ max: unpackedMax, ofOwnerMax: unpackedMax / 2 });

export function readRoutesSettings(
  env: RoutesVariables,
  partitions: number,
  messageBytesMax: number,
  unpacking: ConcurrencyLimit,
): RoutesSettings {
  const { timeWindow } = readAdmissionSettings(env);
  const gzip = { ratioMax: gzipRatioMax, inFlight: unpacking };
  const limits = { depthMax, keysMax: keysMax.event, timeWindow };
  const bodyBytesMax = readEventBytesMax(env, messageBytesMax);
  return {
    partitions,
    limits,
    bodyBytesMax,
    batch: {
      bodyBytesMax: env.BATCH_BODY_BYTES_MAX,
      rowsMax: env.BATCH_ROWS_MAX,
      keysMax: keysMax.batch,
      contextBytesMax,
      row: { ...limits, bytesMax: Math.min(env.ROW_BYTES_MAX, bodyBytesMax) },
      gzip,
    },
    webhook: {
      eventsMax: env.BATCH_ROWS_MAX,
      arrayKeysMax: keysMax.batch,
      signatureAgeMsMax,
      multipartInFlightMax,
      gzip,
    },
    compat: {
      bodyBytesMax: env.BATCH_BODY_BYTES_MAX,
      rowsMax: compatRowsMax,
      eventBytesMax: Math.min(env.ROW_BYTES_MAX, bodyBytesMax),
      // Two levels stand around each message of a batch.
      limits: { depthMax: depthMax + 2, keysMax: keysMax.batch },
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
