import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, flag, optionalSecret, optionalText, port, text } from '../../shared/runtime/variables.ts';

const mebibyte = 1024 ** 2;

const tls = {
  GATEWAY_TLS_CERT_FILE: optionalText(
    'PEM file with the certificate chain. With the chain and its key set, the gateway accepts only TLS. The metrics port does not use TLS',
    { needs: 'GATEWAY_TLS_KEY_FILE' },
  ),
  GATEWAY_TLS_KEY_FILE: optionalText('The key of GATEWAY_TLS_CERT_FILE, a PEM file', {
    needs: 'GATEWAY_TLS_CERT_FILE',
  }),
  GATEWAY_TLS_PASSPHRASE: optionalSecret('Passphrase of an encrypted key', { needs: 'GATEWAY_TLS_KEY_FILE' }),
};
const bodies = {
  BODIES_BYTES_MAX: count(
    'Memory for all bodies that are still arriving; those from one address may use half of it. Behind a proxy that is not in TRUSTED_PROXIES, all clients have the address of the proxy',
    128 * mebibyte,
    { unit: 'bytes', minimum: mebibyte },
  ),
};

/** The address of the gateway, and the limits of its clients. */
export const { variables: gatewayHttpEnv, read: readGatewayHttpSettings } = defineSettings({
  port: fromEnv({ GATEWAY_PORT: port('Port on which the gateway receives events', 8080) }),
  host: fromEnv({ GATEWAY_HOST: text('Address the gateway listens on', { default: '0.0.0.0' }) }),
  sharePort: fromEnv({
    GATEWAY_REUSE_PORT: flag('Lets several gateway processes share one port; otherwise a busy port is an error', false),
  }),
  /** Undefined: the gateway speaks plain HTTP. */
  tls: fromEnv(tls, (env): TlsFiles | undefined => {
    const { GATEWAY_TLS_CERT_FILE: certFile, GATEWAY_TLS_KEY_FILE: keyFile, GATEWAY_TLS_PASSPHRASE: passphrase } = env;
    if (certFile === undefined || keyFile === undefined) return undefined;
    return { certFile, keyFile, ...(passphrase === undefined ? {} : { passphrase }) };
  }),
  bodies: {
    bytesMax: fromEnv(bodies),
    bytesOfAddressMax: fromEnv(bodies, (env) => Math.ceil(env.BODIES_BYTES_MAX / 2)),
  },
  requestsOfAddressMax: fromEnv({
    GATEWAY_ADDRESS_REQUESTS_MAX: count(
      'Requests in flight from one address: requests whose body is arriving, or that wait for the log. Further requests get a 429, and their connection is closed. 0: no limit. Behind a proxy that is not in TRUSTED_PROXIES, all clients have the address of the proxy',
      10_000,
      { minimum: 0 },
    ),
  }),
  connectionsMax: fromEnv({
    GATEWAY_CONNECTIONS_MAX: count(
      "Open client connections; more are refused. Keep this below the process's limit of open files, or no file is left for the connection to the log",
      20_000,
    ),
  }),
});

/** PEM files of the gateway's own certificate. The engine reads them itself. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string; readonly passphrase?: string };

class TlsFilesError extends Error {
  readonly code = 'tls_files';
}

/** Throws TlsFilesError unless the files can be read and match, because the engine would not name the problem. */
export function checkTlsFiles({ certFile, keyFile, passphrase }: TlsFiles): void {
  const cert = read('GATEWAY_TLS_CERT_FILE', certFile);
  const key = read('GATEWAY_TLS_KEY_FILE', keyFile);
  try {
    createSecureContext({ cert, key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TlsFilesError(
      `reading GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE (with GATEWAY_TLS_PASSPHRASE if the key is encrypted): ${reason}`,
      { cause: error },
    );
  }
}

function read(variable: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TlsFilesError(`reading ${variable}: ${reason}`, { cause: error });
  }
}
