import type { JsonObject } from '../process/json.ts';
import type { SettingDescriptor } from './define.ts';
import { optionalTextSetting } from './settings.ts';
import { readWebUrl } from './web-url.ts';

/** The setting that sends a platform's requests elsewhere: a regional address, a proxy, a server for tests. */
export function baseUrlSetting(standard: string): SettingDescriptor {
  return {
    type: 'Text',
    key: 'baseUrl',
    label: 'Base URL',
    placeholder: standard,
    sublabel: `Only where requests must go elsewhere than to ${standard}.`,
    required: null,
  };
}

/** The address requests start with, without a slash at its end. Throws SettingError naming `baseUrl`. */
export function readBaseUrl(settings: JsonObject, standard: string): string {
  const given = optionalTextSetting(settings, 'baseUrl');
  return (given === undefined ? standard : readWebUrl('baseUrl', given)).replace(/\/+$/, '');
}
