import { tmpdir, userInfo } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { defineEnv } from '../../runtime/env.ts';
import { optionalText } from '../../runtime/variables.ts';

/** Variables that select and verify the nats-server binary of embedded servers. */
export const { variables: embeddedEnv, read: readEmbeddedEnv } = defineEnv({
  SLUICE_NATS_SERVER: optionalText('Path of a nats-server binary to use instead of looking for one'),
  SLUICE_NATS_SERVER_SHA256: optionalText(
    'SHA-256 of the official nats-server archive for this platform, from the SHA256SUMS of the release. Required to download a release without a pinned checksum',
    { pattern: '^[0-9a-fA-F]{64}$', mustBe: 'a SHA-256 in hex' },
  ),
});

/** The folders of PATH. */
export function programFolders(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Variables that a server inherits in addition to its own settings. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}

/** Folder of downloaded server programs, for all checkouts of this user: in `$XDG_CACHE_HOME`, else in `~/.cache`. */
export function defaultEmbeddedCacheDir(): string {
  const { XDG_CACHE_HOME, HOME } = process.env;
  if (XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME)) {
    return join(XDG_CACHE_HOME, 'sluice');
  }
  if (HOME !== undefined && isAbsolute(HOME)) {
    return join(HOME, '.cache', 'sluice');
  }
  // One folder per account: the temporary folder is shared, and another user could put a program into it.
  return join(tmpdir(), `sluice-cache-${userInfo().uid}`);
}
