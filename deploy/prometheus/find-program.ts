import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fetchDebianPackages } from '../../shared/embedded/machine/debian-package.ts';
import { programFolders } from '../../shared/embedded/machine/env.ts';
import { runCommand } from '../../shared/embedded/machine/run-command.ts';

/** Programs of Prometheus; each is in the Debian package of its name. */
export type PrometheusProgram = 'prometheus' | 'promtool';

/** The program is neither on this machine nor available from a Debian mirror. */
export class ProgramNotFoundError extends Error {
  readonly code = 'program_not_found';
}

export type FindProgramOptions = {
  /** Folder for downloaded programs. */
  readonly cacheDir: string;
  readonly onProgress: (line: string) => void;
  /** Folders to search. Default: the folders in PATH. */
  readonly searchPath?: readonly string[];
  readonly signal?: AbortSignal;
};

const versionTimeoutMs = 20_000;

/**
 * Finds a program of Prometheus: on PATH, else in the cache, else in Debian's package, from which it is copied to the
 * cache. Throws ProgramNotFoundError with the reason for each place.
 */
export async function findPrometheusProgram(name: PrometheusProgram, options: FindProgramOptions): Promise<string> {
  const { cacheDir, onProgress, signal = new AbortController().signal } = options;
  const searchPath = options.searchPath ?? programFolders();
  const failures: string[] = [];
  const cached = join(resolve(cacheDir), `${name}-debian-${process.platform}-${process.arch}`);
  for (const path of [...searchPath.filter(Boolean).map((folder) => resolve(folder, name)), cached]) {
    if (await runs(path, signal)) return path;
  }
  failures.push(`  PATH and the cache: ${name} is not there`);
  try {
    onProgress(`fetching ${name} from the Debian mirror (some 15 megabytes, once)`);
    return await fetchInto(cached, name, signal);
  } catch (error) {
    failures.push(`  Debian's package: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new ProgramNotFoundError([`no ${name} was found or could be fetched:`, ...failures].join('\n'));
}

async function runs(path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await runCommand(path, ['--version'], { timeoutMs: versionTimeoutMs, signal });
    return true;
  } catch {
    return false;
  }
}

// Copied under a temporary name and then renamed, so that concurrent processes always find a complete program.
async function fetchInto(cached: string, name: PrometheusProgram, signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  const aside = `${cached}.${randomBytes(6).toString('hex')}`;
  try {
    const contents = await fetchDebianPackages([name], folder, signal);
    await mkdir(resolve(cached, '..'), { recursive: true });
    await copyFile(join(contents, 'usr', 'bin', name), aside);
    await chmod(aside, 0o755);
    if (!(await runs(aside, signal))) throw new Error(`${name} from the Debian package cannot be executed here`);
    await rename(aside, cached);
    return cached;
  } finally {
    await rm(aside, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}
