import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { metricsHost } from '../../shared/runtime/status/serve-status.ts';
import { optionalSecret, optionalText, port, text } from '../../shared/runtime/variables.ts';

const tls = {
  CONTROL_PLANE_TLS_CERT: optionalText(
    'Certificate chain, in PEM. With the chain and its key set, the API accepts only TLS. The metrics port does not use TLS',
    { pattern: '-----BEGIN CERTIFICATE-----', needs: 'CONTROL_PLANE_TLS_KEY' },
  ),
  CONTROL_PLANE_TLS_KEY: optionalSecret('The key of CONTROL_PLANE_TLS_CERT, in PEM', {
    pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----',
    needs: 'CONTROL_PLANE_TLS_CERT',
  }),
  CONTROL_PLANE_TLS_PASSPHRASE: optionalSecret('Passphrase of an encrypted key', { needs: 'CONTROL_PLANE_TLS_KEY' }),
};

/** The addresses of the control plane's servers. */
export const { variables: controlPlaneHttpEnv, read: readControlPlaneHttpSettings } = defineSettings({
  port: fromEnv({ CONTROL_PLANE_PORT: port('The configuration API', 8081) }),
  host: fromEnv({ CONTROL_PLANE_HOST: text('Address the control plane listens on', { default: '0.0.0.0' }) }),
  metricsHost,
  metricsPort: fromEnv({ CONTROL_PLANE_METRICS_PORT: port('Metrics and health of the control plane', 9081) }),
  /** Undefined if the API uses plain HTTP. */
  tls: fromEnv(tls, (env): TlsTexts | undefined => {
    const { CONTROL_PLANE_TLS_CERT: cert, CONTROL_PLANE_TLS_KEY: key, CONTROL_PLANE_TLS_PASSPHRASE: passphrase } = env;
    if (cert === undefined || key === undefined) return undefined;
    return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
  }),
});

/** PEM texts of a server's own certificate. */
export type TlsTexts = { readonly cert: string; readonly key: string; readonly passphrase?: string };

class TlsTextsError extends Error {
  readonly code = 'tls_texts';
}

/**
 * A server factory for Fastify. If it is given one, Fastify does not set the server's time limits, so the factory sets
 * them. Throws TlsTextsError, when the server is made, if certificate and key cannot be used.
 */
export function httpsServerFactory(tls: TlsTexts, requestTimeoutMs: number): (handler: RequestListener) => Server {
  return (handler) => {
    try {
      return createServer({ ...tls, requestTimeout: requestTimeoutMs }, handler);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TlsTextsError(
        `using CONTROL_PLANE_TLS_CERT and CONTROL_PLANE_TLS_KEY (with CONTROL_PLANE_TLS_PASSPHRASE if the key is encrypted): ${reason}`,
        { cause: error },
      );
    }
  };
}
