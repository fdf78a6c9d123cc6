import type { Static, TObject } from 'typebox';
import { needs, together } from '../../shared/runtime/env-rules.ts';
import type { EnvRule } from '../../shared/runtime/env-rules.ts';
import { optionalSecret, optionalText, port, text } from '../../shared/runtime/variables.ts';
import type { TlsTexts } from './https-server.ts';

export const controlPlaneHttpEnv = {
  CONTROL_PLANE_PORT: port('The configuration API', 8081),
  CONTROL_PLANE_HOST: text('Address the control plane listens on', { default: '0.0.0.0' }),
  CONTROL_PLANE_METRICS_PORT: port('Metrics and health of the control plane', 9081),
  CONTROL_PLANE_TLS_CERT: optionalText(
    'Certificate chain, in PEM: with it and the key the API speaks TLS, and only TLS. The metrics port stays plain',
    { pattern: '-----BEGIN CERTIFICATE-----' },
  ),
  CONTROL_PLANE_TLS_KEY: optionalSecret('The key of CONTROL_PLANE_TLS_CERT, in PEM', {
    pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----',
  }),
  CONTROL_PLANE_TLS_PASSPHRASE: optionalSecret('Passphrase of an encrypted key'),
};

export const controlPlaneHttpRules: readonly EnvRule[] = [
  together('CONTROL_PLANE_TLS_CERT', 'CONTROL_PLANE_TLS_KEY'),
  needs('CONTROL_PLANE_TLS_PASSPHRASE', 'CONTROL_PLANE_TLS_KEY'),
];

/** Undefined: the API speaks plain HTTP. */
export function readTlsTexts(env: Static<TObject<typeof controlPlaneHttpEnv>>): TlsTexts | undefined {
  const { CONTROL_PLANE_TLS_CERT: cert, CONTROL_PLANE_TLS_KEY: key, CONTROL_PLANE_TLS_PASSPHRASE: passphrase } = env;
  if (cert === undefined || key === undefined) return undefined;
  return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
}
