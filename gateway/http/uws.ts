import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as Uws from 'uWebSockets.js';
import { CannotStartError } from '../../shared/runtime/cannot-start.ts';

// The types declare the listen options in an enum; the module exports them directly.
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

/** Newest first. The newer package needs a newer C library and Node than the older one. */
export const enginePackages = [
  { packageName: 'uWebSockets.js', glibcMin: '2.38' },
  { packageName: 'uWebSockets.js-compat', glibcMin: '2.27' },
] as const;

/** Size of a request's head, in bytes. A collector on a site's own domain receives all cookies of that site. */
export const headBytesMax = 16 * 1024;

/** Scope of the packages that contain one build each. */
const buildScope = '@uwsjs';

/**
 * Loads the newest uWebSockets.js that this platform can run. Throws UwsUnavailableError if no version can run here.
 * `require` decides which node_modules are searched.
 */
export function loadUws(require: NodeJS.Require = createRequire(import.meta.url)): LoadedUws {
  // The engine reads this variable once, while its native part loads. The default is 4 KiB.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(headBytesMax);
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

/** Version of the C library this process runs on; undefined if that is not glibc. */
export function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime;
}

/** The builds in a package's manifest, and the builds installed in node_modules, next to the package or inside it. */
function readPackage(
  require: NodeJS.Require,
  packageName: string,
): Pick<EnginePackage, 'builds'> & { readonly installed: readonly string[] } {
  try {
    // The package is found even if none of its builds loads.
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

/** The version of the package that contains the native file; the version of its wrapper may be newer. */
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

/** The system's message, without the text that uWebSockets.js puts before it. */
function causeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [about = '', cause = about] = message.split('\n\n');
  return cause.split('\n', 1)[0] ?? '';
}

/** One of the packages that bring the HTTP engine, as it is installed. */
type EnginePackage = {
  /** The oldest glibc with which the package's Linux builds load; no manifest states this version. */
  readonly glibcMin: string;
  /** The package's builds, such as `linux-x64-24`: platform, architecture, major version of Node. */
  readonly builds: readonly string[];
};

/** Facts that decide which build runs. */
export type Machine = {
  /** Like process.versions.node. */
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  /** Undefined on musl and on systems other than Linux. */
  readonly glibc: string | undefined;
};

/** Why no build runs, and the remedy. */
type NoEngine = { readonly problem: string; readonly advice: string };

/**
 * Node versions to recommend: first the version that documents and images use, then the newest version that runs on an
 * older glibc.
 */
const recommendedMajors = [24, 22];

/** Explains why no build of the HTTP engine runs. `installed`: builds in node_modules; `causes`: their load errors. */
export function explainNoEngine(
  machine: Machine,
  packages: readonly EnginePackage[],
  installed: readonly string[],
  causes: readonly string[],
): NoEngine {
  const { node, platform, arch, glibc } = machine;
  const system = `${platform}-${arch}`;
  const major = node.split('.', 1)[0] ?? '';
  const build = `${system}-${major}`;
  if (packages.every(({ builds }) => builds.length === 0)) {
    return { problem: 'node_modules holds no HTTP engine', advice: 'run npm ci' };
  }
  if (majorsOf(packages, system).length === 0) {
    return { problem: `there is no build of the HTTP engine for ${system}`, advice: 'run gateways on Linux on x64' };
  }
  if (platform === 'linux' && glibc === undefined) {
    const advice = 'use a system with glibc, such as Debian, Ubuntu or an image made of them';
    return { problem: 'there is no build of the HTTP engine for a system without glibc, such as Alpine', advice };
  }
  const made = packages.filter(({ builds }) => builds.includes(build));
  if (!made.some((each) => loadsWith(each, glibc))) {
    const withGlibc = glibc === undefined ? `on ${system}` : `with glibc ${glibc}`;
    const majors = majorsOf(
      packages.filter((each) => loadsWith(each, glibc)),
      system,
    );
    const best = recommendedMajors.find((each) => majors.includes(each)) ?? majors[0];
    const [newest] = made.length === 0 && best === undefined ? packages : made;
    const ways = [
      ...(best === undefined ? [] : [`Node ${best}`]),
      ...(newest === undefined ? [] : [`a system with glibc ${newest.glibcMin} or newer`]),
    ];
    return {
      problem: `there is no build of the HTTP engine for Node ${node} ${withGlibc}`,
      advice: `use ${ways.join(', or ')}`,
    };
  }
  if (!installed.includes(build)) {
    const others = installed.map((each) => each.split('-')).map(([os, cpu, of]) => `Node ${of} on ${os}-${cpu}`);
    const held =
      others.length === 0 ? 'no build of the HTTP engine' : `the HTTP engine for ${others.join(' and ')} only`;
    return {
      problem: `node_modules holds ${held}, and this is Node ${node} on ${system}`,
      advice: 'run npm ci with this Node, on this machine',
    };
  }
  return { problem: `the HTTP engine does not load (${causes.join('; ')})`, advice: 'run npm ci' };
}

/** The major versions of Node that have a build for a system, newest first. */
function majorsOf(packages: readonly EnginePackage[], system: string): number[] {
  const builds = packages.flatMap((each) => each.builds).filter((each) => each.startsWith(`${system}-`));
  return [...new Set(builds.map((each) => Number(each.slice(system.length + 1))))].sort((a, b) => b - a);
}

function loadsWith({ glibcMin }: EnginePackage, glibc: string | undefined): boolean {
  return glibc === undefined || !isOlder(glibc, glibcMin);
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = than.split('.').map(Number);
  return major === majorMin ? minor < minorMin : major < majorMin;
}
