import type { JsonObject } from '../process/json.ts';
import { SettingError } from './define.ts';
import { isHeaderValue } from './header-rules.ts';
import { textSetting } from './settings.ts';

/** A required secret that travels in a header, without the space that comes along when one is pasted. */
export function tokenSetting(settings: JsonObject, key: string): string {
  const token = textSetting(settings, key).trim();
  if (token === '') throw new SettingError(key, 'is required');
  if (!isHeaderValue(token)) throw new SettingError(key, 'must be one line of plain characters');
  return token;
}
