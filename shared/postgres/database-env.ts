import type { Static, TObject } from 'typebox';
import { together } from '../runtime/env-rules.ts';
import type { EnvRule } from '../runtime/env-rules.ts';
import { optionalSecret, optionalText, secret } from '../runtime/variables.ts';

const certificate = '-----BEGIN CERTIFICATE-----';

/** How a process reaches PostgreSQL. Every one of these may come from a file: `DATABASE_CA_FILE` for `DATABASE_CA`. */
export const databaseEnv = {
  DATABASE_URL: secret(
    'PostgreSQL, with the rights to create tables where it migrates. `?sslmode=` is disable, require (encrypted, the server unproved unless there is a DATABASE_CA), verify-ca or verify-full',
    { pattern: '^postgres(ql)?://' },
  ),
  DATABASE_PASSWORD: optionalSecret('Replaces the password in DATABASE_URL'),
  DATABASE_CA: optionalText("Certificates of the authorities that signed the server's, in PEM. Asks for verify-full", {
    pattern: certificate,
  }),
  DATABASE_CERT: optionalText("This client's own certificate, in PEM", { pattern: certificate }),
  DATABASE_KEY: optionalSecret('The key of DATABASE_CERT, in PEM', { pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----' }),
};

/** The variables of `databaseEnv`, read. */
export type DatabaseVariables = Static<TObject<typeof databaseEnv>>;

/** What `?sslmode=` may be. */
export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** What one of PostgreSQL's libraries or the other reads from the address, and ours takes from variables. */
const foreignParameters = ['ssl', 'sslcert', 'sslkey', 'sslrootcert', 'sslpassword'];

const addressIsClear: EnvRule = ({ DATABASE_URL: url, ...others }) => {
  if (typeof url !== 'string' || url === '') return undefined;
  if (!URL.canParse(url)) return 'DATABASE_URL is no address: special characters of a password are written as %40';
  const parameters = new URL(url).searchParams;
  const foreign = foreignParameters.find((name) => parameters.has(name));
  if (foreign !== undefined) {
    return `DATABASE_URL says ${foreign}=: say sslmode=, and use DATABASE_CA_FILE, DATABASE_CERT_FILE, DATABASE_KEY_FILE`;
  }
  const mode = parameters.get('sslmode');
  if (mode !== null && !sslModes.some((known) => known === mode)) {
    return `DATABASE_URL says sslmode=${mode}: it must be one of ${sslModes.join(', ')}`;
  }
  const isGiven = others['DATABASE_CA'] !== undefined || others['DATABASE_CERT'] !== undefined;
  return mode === 'disable' && isGiven
    ? 'DATABASE_URL says sslmode=disable, with which DATABASE_CA and DATABASE_CERT do nothing'
    : undefined;
};

export const databaseRules: readonly EnvRule[] = [together('DATABASE_CERT', 'DATABASE_KEY'), addressIsClear];
