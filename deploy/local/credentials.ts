import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newConfigSigningKey } from '../../shared/contracts/config/signed-config.ts';

/** Addresses, keys and ids for using the stack, as in `credentials.json`. */
export type Credentials = {
  readonly gateway: string;
  readonly controlPlane: string;
  readonly sink: string;
  readonly apiKey: string;
  readonly sourceToken: string;
  readonly testToken: string;
  /** Key of the demo site's source; undefined if an older database does not have the source. */
  readonly webToken?: string;
  readonly sourceId: string;
  readonly destinationId: string;
};

export type ServiceUrls = Pick<Credentials, 'gateway' | 'controlPlane' | 'sink'>;

export const credentialsFile = (folder: string): string => join(folder, 'credentials.json');
export const bootstrapFile = (folder: string): string => join(folder, 'bootstrap.json');

/** Writes `credentials.json`: the output of the control plane's bootstrap, and the addresses of this start. */
export async function writeCredentials(folder: string, urls: ServiceUrls): Promise<Credentials> {
  const made = JSON.parse(await readFile(bootstrapFile(folder), 'utf8')) as Omit<Credentials, keyof ServiceUrls>;
  const credentials: Credentials = { ...urls, ...made };
  const file = credentialsFile(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return credentials;
}

/** In the folder of the stack. */
export const secretsKeyFile = 'secrets.key';

/** The key that seals the stack's secrets, created at the first start. If it is lost, the sealed settings are lost. */
export async function readOrMakeSecretsKey(folder: string): Promise<string> {
  return (await readOrMake(join(folder, secretsKeyFile), () => `${randomBytes(32).toString('base64')}\n`)).trim();
}

/** In the folder of the stack. */
export const configSigningKeyFile = 'config-signing-key.pem';

/** The key that signs configuration. It is not derived from the secrets key, because pipelines have the secrets key. */
export function readOrMakeConfigSigningKey(folder: string): Promise<string> {
  return readOrMake(join(folder, configSigningKeyFile), newConfigSigningKey);
}

async function readOrMake(file: string, make: () => string): Promise<string> {
  try {
    await writeFile(file, make(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFile(file, 'utf8');
}
