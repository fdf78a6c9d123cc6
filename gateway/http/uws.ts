import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Uws from 'uWebSockets.js';

// The types name the listen options in an enum of their own; the module has them at its top.
export type UwsModule = typeof Uws & { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: Uws.ListenOptions };

export type LoadedUws = {
  readonly uws: UwsModule;
  /** Which of the installed packages runs. */
  readonly packageName: string;
  /** Version of the native library that was loaded, which need not be the package's own. */
  readonly version: string;
};

export class UwsUnavailableError extends Error {
  readonly code = 'uws_unavailable';
}

/** Newest first: the newer one needs a newer C library and Node than the older one. */
const packageNames = ['uWebSockets.js', 'uWebSockets.js-compat'] as const;

/** Loads the newest uWebSockets.js that this platform can run. Throws UwsUnavailableError when none can. */
export function loadUws(): LoadedUws {
  const require = createRequire(import.meta.url);
  const reasons: string[] = [];
  for (const packageName of packageNames) {
    try {
      const uws = require(packageName) as UwsModule;
      // A package may load without a native part for this platform and fail at first use only.
      uws.App();
      return { uws, packageName, version: nativeVersion(require, packageName) };
    } catch (error) {
      reasons.push(`${packageName}: ${firstLine(error)}`);
    }
  }
  const platform = `Node ${process.versions.node} on ${process.platform}-${process.arch}`;
  throw new UwsUnavailableError(`loading uWebSockets.js: no build runs under ${platform} (${reasons.join('; ')})`);
}

/** The package that holds the native file names the version; the wrapper's may be newer. */
function nativeVersion(require: NodeJS.Require, packageName: string): string {
  const file = Object.keys(require.cache).find((path) => path.endsWith('.node') && /uws/i.test(path));
  let folder = dirname(file ?? require.resolve(packageName));
  for (;;) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: string };
      return manifest.version ?? 'unknown';
    } catch {
      const parent = dirname(folder);
      if (parent === folder) return 'unknown';
      folder = parent;
    }
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}
