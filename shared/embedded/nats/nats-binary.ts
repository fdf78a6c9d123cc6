import { createHash, randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { NATS_VERSION_MIN, isNewEnough } from '../../nats/connection/server-version.ts';
import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { programFolders, readEmbeddedEnv } from '../machine/env.ts';
import { isThere } from '../machine/is-there.ts';
import { fetchDebianPackages } from '../machine/debian-package.ts';
import type { NatsRelease } from './nats-release.ts';
import { fetchNatsRelease, natsRelease } from './nats-release.ts';
import { runCommand } from '../machine/run-command.ts';

export { defaultEmbeddedCacheDir } from '../machine/env.ts';

/** A nats-server program that runs on this machine and is new enough. */
export type NatsBinary = {
  readonly path: string;
  readonly version: string;
};

export type FindNatsServerOptions = {
  /** Folder for downloaded programs. */
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Path of the only program to try. Default: the variable SLUICE_NATS_SERVER. */
  readonly binaryPath?: string;
  /** Default: the folders of PATH. */
  readonly searchPath?: readonly string[];
  /** The release to fetch. Default `natsRelease`. */
  readonly release?: NatsRelease;
};

type Way = {
  readonly name: string;
  readonly find: () => Promise<NatsBinary>;
};

/**
 * Finds nats-server. Tries only the given path, if any; else PATH, the cache, the official release and Debian's package
 * (which apt checks against Debian's keyring). Downloaded programs are cached under their SHA-256, which is checked
 * before a cached program runs. Throws one EmbeddedServerError that lists every attempt and why it failed.
 */
export async function findNatsServer(options: FindNatsServerOptions): Promise<NatsBinary> {
  const env = readEmbeddedEnv();
  const signal = options.signal ?? new AbortController().signal;
  const given = options.binaryPath ?? env.SLUICE_NATS_SERVER;
  if (given !== undefined) {
    return useGiven(resolve(given), signal);
  }
  const { cacheDir, onProgress, release = natsRelease } = options;
  const cache = { folder: resolve(cacheDir), name: `nats-server-${release.tag}-${process.platform}-${process.arch}` };
  const ways: readonly Way[] = [
    { name: 'PATH', find: () => findOnPath(options.searchPath ?? programFolders(), signal) },
    { name: 'the cache', find: () => findCached(cache, signal) },
    {
      name: 'the official release',
      find: () => {
        const fetch = (folder: string): Promise<string> =>
          fetchNatsRelease(release, folder, signal, env.SLUICE_NATS_SERVER_SHA256);
        onProgress(`fetching nats-server ${release.tag} (a few megabytes, once)`);
        return fetchInto(cache, fetch, signal);
      },
    },
    {
      name: "Debian's package",
      find: () => {
        onProgress('the official release could not be downloaded; using nats-server from the Debian mirror instead');
        return fetchInto(cache, (folder) => fetchFromDebian(folder, signal), signal);
      },
    },
  ];
  const failures: string[] = [];
  for (const way of ways) {
    signal.throwIfAborted();
    try {
      return await way.find();
    } catch (error) {
      failures.push(`  ${way.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  signal.throwIfAborted();
  throw new EmbeddedServerError(
    'binary_not_found',
    [
      `no nats-server (${NATS_VERSION_MIN} or later) was found or could be fetched:`,
      ...failures,
      'Set NATS_URL to a nats-server of your own, put one on PATH, or name its program in SLUICE_NATS_SERVER.',
    ].join('\n'),
  );
}

async function fetchFromDebian(folder: string, signal: AbortSignal): Promise<string> {
  return join(await fetchDebianPackages(['nats-server'], folder, signal), 'usr', 'sbin', 'nats-server');
}

async function useGiven(path: string, signal: AbortSignal): Promise<NatsBinary> {
  try {
    return { path, version: await requireNatsVersion(path, signal) };
  } catch (error) {
    throw new EmbeddedServerError(
      'binary_not_found',
      `the nats-server given (SLUICE_NATS_SERVER) cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

async function findOnPath(folders: readonly string[], signal: AbortSignal): Promise<NatsBinary> {
  const failures: string[] = [];
  for (const folder of folders.filter((name) => name !== '')) {
    const path = resolve(folder, 'nats-server');
    if (await isThere(path)) {
      try {
        return { path, version: await requireNatsVersion(path, signal) };
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  throw new Error(failures.length === 0 ? 'there is no nats-server' : failures.join('; '));
}

/** Folder of downloaded programs, each named `<name>.<its SHA-256>`. */
type Cache = { readonly folder: string; readonly name: string };

const pathIn = ({ folder, name }: Cache, sum: string): string => join(folder, `${name}.${sum}`);

async function sumOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function findCached(cache: Cache, signal: AbortSignal): Promise<NatsBinary> {
  const files = await readdir(cache.folder).catch(() => []);
  const failures: string[] = [];
  for (const file of files.filter((one) => one.startsWith(`${cache.name}.`)).toSorted()) {
    const path = join(cache.folder, file);
    if (pathIn(cache, await sumOf(path)) === path) return { path, version: await requireNatsVersion(path, signal) };
    failures.push(`${path} does not have the SHA-256 in its name`);
  }
  throw new Error(failures.length === 0 ? `there is no ${join(cache.folder, cache.name)}` : failures.join('; '));
}

// The program is copied into the cache folder under a temporary name, tried there (a temporary folder may forbid
// running programs), and renamed. If several processes do this at once, the last process wins, and no process ever
// finds an incomplete program.
async function fetchInto(
  cache: Cache,
  fetch: (folder: string) => Promise<string>,
  signal: AbortSignal,
): Promise<NatsBinary> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-nats-server-'));
  const aside = join(cache.folder, `fetching-${randomBytes(6).toString('hex')}`);
  try {
    const fetched = await fetch(folder);
    await mkdir(cache.folder, { recursive: true });
    await copyFile(fetched, aside);
    await chmod(aside, 0o755);
    const version = await requireNatsVersion(aside, signal);
    const path = pathIn(cache, await sumOf(aside));
    await rename(aside, path);
    return { path, version };
  } finally {
    await rm(aside, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

const versionTimeoutMs = 10_000;

/** Returns the version of a program. Throws, with the reason, if the program cannot be run or is too old. */
async function requireNatsVersion(binaryPath: string, signal?: AbortSignal): Promise<string> {
  const { stdout } = await runCommand(binaryPath, ['--version'], { timeoutMs: versionTimeoutMs, signal });
  const version = parseNatsVersion(stdout);
  if (version === undefined) {
    throw new Error(`${binaryPath} does not print its version as nats-server does: ${stdout.trim().slice(0, 100)}`);
  }
  if (!isNewEnough(version)) {
    throw new Error(`${binaryPath} is version ${version}, older than ${NATS_VERSION_MIN}`);
  }
  return version;
}

/** Reads `nats-server: v2.15.1` as `2.15.1`; keeps a suffix (`-RC.1`). Undefined for other output. */
export function parseNatsVersion(output: string): string | undefined {
  return /^nats-server: v?(\d+\.\d+\.\d+[\w.+-]*)\s*$/m.exec(output)?.[1];
}
