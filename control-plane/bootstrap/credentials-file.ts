import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isJsonObject } from '../../shared/runtime/json.ts';

/** The credentials that a newcomer needs for a first event. */
export type Credentials = {
  readonly apiKey: string;
  readonly sourceToken?: string;
  readonly testToken?: string;
  /** Key of a source for pages. */
  readonly webToken?: string;
  readonly sourceId?: string;
  readonly destinationId?: string;
};

/** The file's credentials; undefined if there is no such file, or if it holds no key. */
export async function readCredentials(path: string): Promise<Credentials | undefined> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8')) as unknown;
    return isJsonObject(value) && typeof value['apiKey'] === 'string' ? (value as Credentials) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file completely or not at all; only its owner can read it. */
export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draftPath = `${path}.${randomUUID()}.tmp`;
  const draft = await open(draftPath, 'w', 0o600);
  try {
    await draft.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(draftPath, path);
}
