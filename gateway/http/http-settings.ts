import type { Static, TObject } from 'typebox';
import { needs, together } from '../../shared/runtime/env.ts';
import type { EnvRule } from '../../shared/runtime/env.ts';
import { count, flag, optionalSecret, optionalText, port, text } from '../../shared/runtime/variables.ts';
import type { TlsFiles } from './tls-files.ts';

const mebibyte = 1024 ** 2;

export const gatewayHttpEnv = {
  GATEWAY_PORT: port('Where events are sent to', 8080),
  GATEWAY_HOST: text('Address the gateway listens on', { default: '0.0.0.0' }),
  GATEWAY_REUSE_PORT: flag('Lets several gateway processes share one port; otherwise a busy port is an error', false),
  GATEWAY_TLS_CERT_FILE: optionalText(
    'Certificate chain, a PEM file: with it and the key the gateway speaks TLS, and only TLS. The metrics port stays plain',
  ),
  GATEWAY_TLS_KEY_FILE: optionalText('The key of GATEWAY_TLS_CERT_FILE, a PEM file'),
  GATEWAY_TLS_PASSPHRASE: optionalSecret('Passphrase of an encrypted key'),
  BODIES_BYTES_MAX: count('Memory for bodies that are still arriving, all together', 128 * mebibyte, {
    unit: 'bytes',
    minimum: mebibyte,
  }),
};

export const gatewayHttpRules: readonly EnvRule[] = [
  together('GATEWAY_TLS_CERT_FILE', 'GATEWAY_TLS_KEY_FILE'),
  needs('GATEWAY_TLS_PASSPHRASE', 'GATEWAY_TLS_KEY_FILE'),
];

/** Undefined: the gateway speaks plain HTTP. */
export function readTlsFiles(env: Static<TObject<typeof gatewayHttpEnv>>): TlsFiles | undefined {
  const { GATEWAY_TLS_CERT_FILE: certFile, GATEWAY_TLS_KEY_FILE: keyFile, GATEWAY_TLS_PASSPHRASE: passphrase } = env;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return { certFile, keyFile, ...(passphrase === undefined ? {} : { passphrase }) };
}
