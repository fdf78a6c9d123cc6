import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { optionalText } from '../../runtime/variables.ts';

/** Settings of the embedded servers. */
export const embeddedEnv = {
  SLUICE_NATS_SERVER: optionalText('Path of a nats-server binary to use instead of looking for one'),
  SLUICE_NATS_SERVER_SHA256: optionalText(
    'SHA-256 of the official nats-server archive for this platform, from the SHA256SUMS of the release: only with it is that release fetched where none is pinned',
    { pattern: '^[0-9a-fA-F]{64}$' },
  ),
};

/** The environment variables of the embedded servers, read once per call and nowhere else. */
export function readEmbeddedEnv(): EmbeddedEnv {
  return {
    XDG_CACHE_HOME: nonEmpty(process.env['XDG_CACHE_HOME']),
    HOME: nonEmpty(process.env['HOME']),
    PATH: process.env['PATH'] ?? '',
    SLUICE_NATS_SERVER: nonEmpty(process.env['SLUICE_NATS_SERVER']),
    SLUICE_NATS_SERVER_SHA256: nonEmpty(process.env['SLUICE_NATS_SERVER_SHA256']),
  };
}

/** Variables that a server inherits beside its own settings. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}

export type EmbeddedEnv = {
  readonly XDG_CACHE_HOME: string | undefined;
  readonly HOME: string | undefined;
  readonly PATH: string;
  readonly SLUICE_NATS_SERVER: string | undefined;
  readonly SLUICE_NATS_SERVER_SHA256: string | undefined;
};

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}

/** Where downloaded server programs are kept for all checkouts of this user: `$XDG_CACHE_HOME/sluice`, else `~/.cache/sluice`. */
export function defaultEmbeddedCacheDir(): string {
  const { XDG_CACHE_HOME, HOME } = readEmbeddedEnv();
  if (XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME)) {
    return join(XDG_CACHE_HOME, 'sluice');
  }
  if (HOME !== undefined && isAbsolute(HOME)) {
    return join(HOME, '.cache', 'sluice');
  }
  // By account, so that no user runs a program that another user put into a shared temporary folder under our name.
  return join(tmpdir(), `sluice-cache-${userInfo().uid}`);
}
