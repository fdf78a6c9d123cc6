import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { isThere } from '../machine/is-there.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { Account } from './reachability.ts';
import { runCommand } from '../machine/run-command.ts';

/** The superuser, and the database in the server's url. */
export const postgresUser = 'sluice';

const initdbTimeoutMs = 120_000;

/**
 * Creates the data folder with initdb unless it exists. Returns the superuser's password, which is stored beside the
 * data folder in a file of mode 0600.
 */
export async function prepareCluster(
  home: string,
  binaries: PostgresBinaries,
  account: Account | undefined,
  durable: boolean,
): Promise<string> {
  const clusterDir = clusterDirOf(home);
  const passwordFile = join(home, 'password');
  if (!(await isThere(clusterDir))) {
    await writePassword(passwordFile, account);
    await initialise(home, passwordFile, binaries, account, durable);
  }
  await assertOwned(clusterDir, account);
  try {
    return (await readFile(passwordFile, 'utf8')).trim();
  } catch (error) {
    throw new EmbeddedServerError(
      'folder_unusable',
      `PostgreSQL's password file ${passwordFile} cannot be read; without it the data in ${clusterDir} cannot be opened`,
      error,
    );
  }
}

export function clusterDirOf(home: string): string {
  return join(home, 'cluster');
}

async function writePassword(passwordFile: string, account: Account | undefined): Promise<void> {
  await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (account !== undefined) {
    // initdb runs as this account and has to read the file.
    await chown(passwordFile, account.uid, account.gid);
  }
}

// Created under another name and renamed, so that a killed start leaves no incomplete data folder.
async function initialise(
  home: string,
  passwordFile: string,
  binaries: PostgresBinaries,
  account: Account | undefined,
  durable: boolean,
): Promise<void> {
  const aside = join(home, 'cluster.new');
  await rm(aside, { recursive: true, force: true });
  const args = [
    `--pgdata=${aside}`,
    `--username=${postgresUser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts by code point on every machine, whatever locales are installed.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  try {
    await makeOwnedFolder(aside, account);
    await runCommand(binaries.initdb, args, { timeoutMs: initdbTimeoutMs, env: { LC_ALL: 'C', TZ: 'UTC' }, account });
    await rename(aside, clusterDirOf(home));
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw new EmbeddedServerError(
      'start_failed',
      `PostgreSQL's data folder could not be created in ${home}: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

async function makeOwnedFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (account !== undefined) {
    await chown(folder, account.uid, account.gid);
  }
}

async function assertOwned(clusterDir: string, account: Account | undefined): Promise<void> {
  const { uid } = await stat(clusterDir);
  if (uid !== (account?.uid ?? process.getuid?.() ?? uid)) {
    throw new EmbeddedServerError(
      'folder_unusable',
      `PostgreSQL's data in ${clusterDir} belong to another account (uid ${uid}), from a start by root or another user; ` +
        'start as that user, or choose another folder for the data',
    );
  }
}

/** Settings of an embedded server, by name. They go on the command line, so that they also apply to existing data. */
export function postgresSettings({ port, durable }: { port: number; durable: boolean }): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // Clients connect by TCP on loopback only, with a password. A socket would need a folder that the accounts of both
    // sides can enter.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Rows hold personal data: keeps statements, their parameters and the values of violated keys out of the log.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: '0',
    log_error_verbosity: 'terse',
    // Commits still reach the operating system before they are acknowledged, so that a killed server loses no
    // acknowledged commit.
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
}
