import type { JsonObject } from '../process/json.ts';
import type { SettingDescriptor } from './define.ts';
import { countSetting } from './settings.ts';

/** How many events a platform takes in one request at most, and how many are sent where the setting is not given. */
export type BatchLimits = { readonly max: number; readonly fallback: number };

/** The setting that says how many events travel in one request. */
export function batchSizeSetting({ max, fallback }: BatchLimits): SettingDescriptor {
  return {
    type: 'Text',
    key: 'batchSize',
    label: 'Batch size',
    placeholder: String(fallback),
    sublabel: `Events a request at most, 1 to ${max}.`,
    required: null,
  };
}

/** Throws SettingError naming `batchSize`. */
export function readBatchSize(settings: JsonObject, limits: BatchLimits): number {
  return countSetting(settings, 'batchSize', { min: 1, ...limits });
}
