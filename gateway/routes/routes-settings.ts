import type { Static, TObject } from 'typebox';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';
import { readAdmissionSettings } from '../ingest/admission.ts';
import type { admissionEnv } from '../ingest/admission.ts';
import { signatureAgeMsMax } from '../webhook/webhook-settings.ts';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import { compatRowsMax } from './compat/compat-settings.ts';
import type { RoutesOptions } from './registry.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** Room for an event's envelope and the log's header, in addition to its body, in bytes. */
const envelopeBytesMax = 32 * kibibyte;
/** Limit of the size of a decompressed body of a batch or a webhook, as a multiple of its compressed size. */
const gzipRatioMax = 200;
/** Bodies that all routes together decompress at a time; at most half of them from one address, see TRUSTED_PROXIES. */
const unpackedMax = 16;
/** How deep arrays and objects of a body, or of one event of a batch, may nest. */
const depthMax = 64;
/** Object keys of a batch, or of a webhook with several events. */
const batchKeysMax = 100_000;

const batchBody = {
  BATCH_BODY_BYTES_MAX: count('Size of a batch body, after decompression', 5 * mebibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
};
const batchRows = { BATCH_ROWS_MAX: count('Events of one batch, or of one request of a webhook', 1_000) };

const { variables, read } = defineSettings({
  bodyBytesMax: fromEnv({
    TRACK_BODY_BYTES_MAX: count('Size of a body of track, identify or a webhook', mebibyte, {
      unit: 'bytes',
      minimum: kibibyte,
    }),
  }),
  rowBytesMax: fromEnv({
    ROW_BYTES_MAX: count('Size of one event of a batch', 64 * kibibyte, { unit: 'bytes', minimum: 256 }),
  }),
  limits: { depthMax, keysMax: 10_000 },
  batch: {
    bodyBytesMax: fromEnv(batchBody),
    rowsMax: fromEnv(batchRows),
    keysMax: batchKeysMax,
    /** Limit of a batch's common context, which is copied into each of its events. */
    contextBytesMax: 8 * kibibyte,
  },
  webhook: {
    eventsMax: fromEnv(batchRows),
    arrayKeysMax: batchKeysMax,
    signatureAgeMsMax,
  },
  compat: {
    bodyBytesMax: fromEnv(batchBody),
    rowsMax: compatRowsMax,
    // Each message of a batch is two levels deep in the body.
    limits: { depthMax: depthMax + 2, keysMax: batchKeysMax },
    // No limit of the compression ratio: bodies of these libraries may be compressed to a four-hundredth of their size.
    inflate: { bytesMax: fromEnv(batchBody), ratioMax: Number.POSITIVE_INFINITY },
  },
});

export const routesEnv = variables;

type RoutesVariables = Static<TObject<typeof routesEnv & typeof admissionEnv>>;
type RoutesSettings = Pick<RoutesOptions, 'partitions' | 'limits' | 'bodyBytesMax' | 'batch' | 'webhook' | 'compat'>;

/** Size limit, in bytes, of a body with one event, so that a message of the log can carry the event. */
export const readEventBytesMax = (env: RoutesVariables, messageBytesMax: number): number =>
  Math.min(read(env).bodyBytesMax, messageBytesMax - envelopeBytesMax);

/** Limits how many bodies all routes together decompress at a time. */
export const createUnpackingLimit = (): ConcurrencyLimit =>
  new ConcurrencyLimit({ max: unpackedMax, ofOwnerMax: unpackedMax / 2 });

export function readRoutesSettings(
  env: RoutesVariables,
  partitions: number,
  messageBytesMax: number,
  unpacking: ConcurrencyLimit,
): RoutesSettings {
  const { rowBytesMax, batch, webhook, compat, ...declared } = read(env);
  const { timeWindow } = readAdmissionSettings(env);
  const gzip = { ratioMax: gzipRatioMax, inFlight: unpacking };
  const limits = { ...declared.limits, timeWindow };
  const bodyBytesMax = readEventBytesMax(env, messageBytesMax);
  const eventBytesMax = Math.min(rowBytesMax, bodyBytesMax);
  return {
    partitions,
    limits,
    bodyBytesMax,
    batch: { ...batch, row: { ...limits, bytesMax: eventBytesMax }, gzip },
    webhook: { ...webhook, gzip },
    compat: { ...compat, eventBytesMax, timeWindow, inflate: { ...compat.inflate, inFlight: unpacking } },
  };
}
