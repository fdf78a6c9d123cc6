import type { Static, TObject } from 'typebox';
import { atMostOne, together } from '../../runtime/env-rules.ts';
import type { EnvRule } from '../../runtime/env-rules.ts';
import { optionalSecret, optionalText, text } from '../../runtime/variables.ts';

const certificate = '-----BEGIN CERTIFICATE-----';

/** How a process reaches the log. Every one of these may come from a file: `NATS_CA_FILE` for `NATS_CA`, and so on. */
export const logEnv = {
  NATS_URL: text('Servers of the log, comma separated. `tls://` insists on an encrypted connection; may hold a login', {
    default: 'nats://127.0.0.1:4222',
  }),
  NATS_MONITOR_URL: optionalText(
    'Monitor ports of the servers, comma separated: nothing else tells whether they sync every write',
    { pattern: '^https?://' },
  ),
  NATS_CA: optionalText(
    'Certificates of the authorities that signed those of the servers, in PEM; else those Node knows',
    {
      pattern: certificate,
    },
  ),
  NATS_CERT: optionalText("This client's own certificate, in PEM, for servers that verify clients", {
    pattern: certificate,
  }),
  NATS_KEY: optionalSecret('The key of NATS_CERT, in PEM', { pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----' }),
  NATS_USER: optionalText('User to log in as, with NATS_PASSWORD. One way to log in is enough'),
  NATS_PASSWORD: optionalSecret('Password of NATS_USER'),
  NATS_TOKEN: optionalSecret('Token to log in with'),
  NATS_NKEY_SEED: optionalSecret("Seed of a user's nkey to log in with", { pattern: '^SU[A-Z2-7]+$' }),
  NATS_CREDS: optionalSecret('Credentials to log in with, as `nsc` writes them: a JWT and the seed of its key', {
    pattern: '-----BEGIN NATS USER JWT-----',
  }),
};

/** What must hold between the variables of `logEnv`. */
export const logEnvRules: readonly EnvRule[] = [
  together('NATS_CERT', 'NATS_KEY'),
  together('NATS_USER', 'NATS_PASSWORD'),
  atMostOne('NATS_USER', 'NATS_TOKEN', 'NATS_NKEY_SEED', 'NATS_CREDS'),
];

/** The variables of `logEnv`, read. */
export type LogVariables = Static<TObject<typeof logEnv>>;
