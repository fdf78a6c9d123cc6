import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Uws from 'uWebSockets.js';
import { CannotStartError } from '../../shared/runtime/cannot-start.ts';
import { explainNoEngine } from './explain-no-engine.ts';
import type { EnginePackage, NoEngine } from './explain-no-engine.ts';

// The types name the listen options in an enum of their own; the module has them at its top.
export type UwsModule = typeof Uws & { readonly LIBUS_LISTEN_EXCLUSIVE_PORT: Uws.ListenOptions };

export type LoadedUws = {
  readonly uws: UwsModule;
  /** Which of the installed packages runs. */
  readonly packageName: string;
  /** Version of the native library that was loaded, which need not be the package's own. */
  readonly version: string;
};

/** No build of uWebSockets.js runs here. */
export class UwsUnavailableError extends CannotStartError {
  override readonly code = 'uws_unavailable';
  readonly why: NoEngine;
  constructor(why: NoEngine) {
    super(`${why.problem}: ${why.advice}`);
    this.why = why;
  }
}

/** Newest first: the newer one needs a newer C library and Node than the older one. */
export const enginePackages = [
  { packageName: 'uWebSockets.js', glibcMin: '2.38' },
  { packageName: 'uWebSockets.js-compat', glibcMin: '2.27' },
] as const;

/** Scope of the packages that hold one build each. */
const buildScope = '@uwsjs';

/**
 * Loads the newest uWebSockets.js that this platform can run. Throws UwsUnavailableError when none can. `require` is that
 * of a file whose node_modules are to be used.
 */
export function loadUws(require: NodeJS.Require = createRequire(import.meta.url)): LoadedUws {
  const causes: string[] = [];
  for (const { packageName } of enginePackages) {
    try {
      const uws = require(packageName) as UwsModule;
      // A package may load without a native part for this platform and fail at first use only.
      uws.App();
      return { uws, packageName, version: nativeVersion(require, packageName) };
    } catch (error) {
      causes.push(`${packageName}: ${causeOf(error)}`);
    }
  }
  const { platform, arch, versions } = process;
  const machine = { node: versions.node, platform, arch, glibc: glibcVersion() };
  const packages = enginePackages.map((each) => ({ ...each, ...readPackage(require, each.packageName) }));
  const installed = [...new Set(packages.flatMap((each) => each.installed))];
  throw new UwsUnavailableError(explainNoEngine(machine, packages, installed, causes));
}

/** Version of the C library this process runs on; undefined where that is not glibc. */
export function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime;
}

/** The builds a package knows, by its manifest, and those that lie in node_modules, beside it or below. */
function readPackage(
  require: NodeJS.Require,
  packageName: string,
): Pick<EnginePackage, 'builds'> & { readonly installed: readonly string[] } {
  try {
    // It may be there without a build that loads; its main file is found all the same.
    const folder = dirname(require.resolve(packageName));
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    };
    const builds = Object.keys(manifest.optionalDependencies ?? {}).map((name) => name.slice(buildScope.length + 1));
    const around = [join(folder, 'node_modules', buildScope), join(dirname(folder), buildScope)];
    return { builds, installed: around.flatMap(namesIn).filter((name) => /^\w+-\w+-\d+$/.test(name)) };
  } catch {
    return { builds: [], installed: [] };
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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

/** What the system said: uWebSockets.js puts a text about every build in front of it. */
function causeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [about = '', cause = about] = message.split('\n\n');
  return cause.split('\n', 1)[0] ?? '';
}
