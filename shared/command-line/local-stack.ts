import { readFileSync, rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defineEnv } from '../runtime/env.ts';
import type { VariableSource } from '../runtime/env.ts';
import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { text } from '../runtime/variables.ts';

/** The folder of the local stack, as an absolute path. */
export const { variables: stackFolderEnv, read: readStackFolder } = defineSettings(
  fromEnv(
    { SLUICE_DIR: text('Folder of the local stack: data, logs, `credentials.json`', { default: '.sluice' }) },
    (env) => resolve(env.SLUICE_DIR),
  ),
);

export const { read: readStackFolderEnv } = defineEnv(stackFolderEnv);

const fileOf = (folder: string): string => join(folder, 'environment.json');

/** Variables that say which server to use. */
const servers = ['NATS_URL', 'DATABASE_URL'] as const;

/**
 * The environment of a command, completed by that of the local stack in SLUICE_DIR while the stack runs: unset
 * variables get the stack's values, unless the command's environment names other servers than the stack's.
 */
export function besideStack(source: VariableSource): VariableSource {
  const stack = readStackEnvironment(readStackFolder(readStackFolderEnv(source)));
  if (stack === undefined) return source;
  const isOther = servers.some((name) => isSet(source, name) && source[name] !== stack[name]);
  if (isOther) return source;
  const missing = Object.entries(stack).filter(([name]) => !isSet(source, name.replace(/_FILE$/, '')));
  return { ...source, ...Object.fromEntries(missing) };
}

/** Whether a variable is set, directly or by the variable that names a file with its value. */
const isSet = (source: VariableSource, name: string): boolean =>
  [name, `${name}_FILE`].some((one) => source[one] !== undefined && source[one] !== '');

/**
 * Stores the stack's variables for commands, see `besideStack`. Only the folder's owner can read the file, since it
 * contains passwords.
 */
export async function writeStackEnvironment(folder: string, variables: VariableSource): Promise<void> {
  const file = fileOf(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(variables, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export function removeStackEnvironment(folder: string): void {
  rmSync(fileOf(folder), { force: true });
}

function readStackEnvironment(folder: string): Readonly<Record<string, string>> | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Record<string, string>;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // If the folder belongs to another user, that user's stack does not count.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}
