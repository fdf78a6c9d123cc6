import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readStackFolder } from '../../../shared/command-line/local-stack.ts';
import { createConfigSigner, createConfigTrust } from '../../../shared/contracts/config/signed-config.ts';
import { fail, ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { encodeJson } from '../../../shared/runtime/json.ts';
import { CannotStartError } from '../../../shared/runtime/cannot-start.ts';
import { configSigningKeyFile } from '../../local/credentials.ts';
import type { DoctorEnv } from './env.ts';

const about = 'signed configuration';

/** Whether this machine's services verify signed configuration, and whether the keys match. */
export function checkSigning(env: DoctorEnv): Finding[] {
  try {
    const signer = createConfigSigner(env);
    const trust = createConfigTrust(env);
    if (signer !== undefined && env.CONFIG_PUBLIC_KEYS !== undefined) {
      trust.accept('doctor', signer.sign('doctor', encodeJson({ doctor: true }), Date.now()));
      return [ok(about, 'CONFIG_PUBLIC_KEYS holds the public key of CONFIG_SIGNING_KEY')];
    }
  } catch (error) {
    if (error instanceof CannotStartError)
      return [fail(about, error.message, 'a service with this key does not start')];
    const detail = 'CONFIG_PUBLIC_KEYS does not hold the public key of CONFIG_SIGNING_KEY';
    return [fail(about, detail, `give gateways and pipelines its public key, from openssl pkey -pubout (${guide})`)];
  }
  if (env.CONFIG_PUBLIC_KEYS !== undefined) return [ok(about, 'CONFIG_PUBLIC_KEYS is set')];
  if (env.CONFIG_SIGNING_KEY !== undefined) return [ok(about, 'CONFIG_SIGNING_KEY is set')];
  if (existsSync(join(readStackFolder(env), configSigningKeyFile))) return [ok(about, 'the local stack signs it')];
  return [
    warn(
      about,
      'neither CONFIG_SIGNING_KEY nor CONFIG_PUBLIC_KEYS is set: a process that can write to the log can change what gateways and pipelines run',
      `create a key pair; set CONFIG_SIGNING_KEY in control planes and CONFIG_PUBLIC_KEYS in gateways and pipelines (${guide})`,
    ),
  ];
}

const guide = 'runbook: tls-and-authentication.md';
