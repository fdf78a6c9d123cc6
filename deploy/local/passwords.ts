import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logUsers } from '../../shared/nats/users/log-users.ts';
import type { LogUserName } from '../../shared/nats/users/log-users.ts';
import { serviceRights } from '../../shared/postgres/roles/service-roles.ts';
import type { DatabaseService } from '../../shared/postgres/roles/service-roles.ts';

/** The passwords for the servers that the stack starts: one per user of the log, and one per service for PostgreSQL. */
export type StackPasswords = {
  readonly log: Readonly<Record<LogUserName, string>>;
  readonly database: Readonly<Record<DatabaseService, string>>;
};

const logNames = Object.keys(logUsers) as readonly LogUserName[];
const databaseNames = Object.keys(serviceRights) as readonly DatabaseService[];

const fileOf = (folder: string): string => join(folder, 'passwords.json');

/**
 * Reads the folder's passwords, and creates missing passwords (at the first start, all). Only the owner may read the
 * file.
 */
export async function readOrMakePasswords(folder: string): Promise<StackPasswords> {
  const found = await readPasswords(folder);
  const passwords: StackPasswords = {
    log: complete(logNames, found?.log),
    database: complete(databaseNames, found?.database),
  };
  const file = fileOf(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(passwords, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return passwords;
}

/** The folder's existing passwords; undefined if no stack has run. */
export async function readPasswords(folder: string): Promise<Partial<StackPasswords> | undefined> {
  const text = await readFile(fileOf(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Partial<StackPasswords>);
}

function complete<Name extends string>(
  names: readonly Name[],
  found: Readonly<Partial<Record<Name, string>>> | undefined,
): Record<Name, string> {
  const entries = names.map((name) => [name, found?.[name] ?? randomBytes(24).toString('hex')]);
  return Object.fromEntries(entries) as Record<Name, string>;
}
