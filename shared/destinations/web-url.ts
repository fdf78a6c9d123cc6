import { SettingError } from './define.ts';

const urlCharactersMax = 2_048;

/** Checks a URL a user gave: absolute, http or https, no credentials in it. Returns its normal form without a fragment. */
export function readWebUrl(key: string, text: string): string {
  if (text.length > urlCharactersMax) throw new SettingError(key, `must have at most ${urlCharactersMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new SettingError(key, 'must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new SettingError(key, 'must not hold a user name or password');
  url.hash = '';
  return url.href;
}
