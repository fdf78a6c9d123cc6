import { createHash } from 'node:crypto';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { defaultEmbeddedCacheDir } from '../machine/cache-dir.ts';
import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { copyPostgresPackage, hasLibraryLinks, listLibraryLinks, locatePostgresPackage } from './postgres-package.ts';
import { type Account, executeBit, findObstacle, readBit } from './reachability.ts';

/** Paths of PostgreSQL's programs. */
export type PostgresBinaries = {
  readonly postgres: string;
  readonly initdb: string;
};

// Where every account can read; only root looks for such a place, so only root can have put the programs there.
const publicCacheDirs = ['/var/cache/sluice', '/var/lib/sluice'];

/**
 * The programs, where the account can run them: in the installed package, or in a copy of it if the package lies in a
 * folder the account may not enter, or lacks its links. No account means this process's own.
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

// A package of another version or place gets a copy of its own.
async function copyName(nativeDir: string): Promise<string> {
  const { size, mtimeMs } = await stat(programsIn(nativeDir).postgres);
  const hash = createHash('sha256').update(JSON.stringify([nativeDir, size, mtimeMs]));
  return `postgres-${hash.digest('hex').slice(0, 12)}`;
}

function programsIn(nativeDir: string): PostgresBinaries {
  return { postgres: join(nativeDir, 'bin', 'postgres'), initdb: join(nativeDir, 'bin', 'initdb') };
}
