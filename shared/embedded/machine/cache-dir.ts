import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { readEmbeddedEnv } from './env.ts';

/** Where downloaded server programs are kept for all checkouts of this user: `$XDG_CACHE_HOME/sluice`, else `~/.cache/sluice`. */
export function defaultEmbeddedCacheDir(): string {
  const { XDG_CACHE_HOME, HOME } = readEmbeddedEnv();
  if (XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME)) {
    return join(XDG_CACHE_HOME, 'sluice');
  }
  if (HOME !== undefined && isAbsolute(HOME)) {
    return join(HOME, '.cache', 'sluice');
  }
  // By account, so that nobody runs a program somebody else has put into a shared temporary folder under our name.
  return join(tmpdir(), `sluice-cache-${userInfo().uid}`);
}
