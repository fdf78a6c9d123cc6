import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';

/** PEM texts of a server's own certificate. */
export type TlsTexts = { readonly cert: string; readonly key: string; readonly passphrase?: string };

export class TlsTextsError extends Error {
  readonly code = 'tls_texts';
}

/**
 * A factory for Fastify, which then leaves the server's time limits to it. Throws TlsTextsError, when the server is made,
 * if certificate and key cannot be used.
 */
export function httpsServerFactory(tls: TlsTexts, requestTimeoutMs: number): (handler: RequestListener) => Server {
  return (handler) => {
    try {
      return createServer({ ...tls, requestTimeout: requestTimeoutMs }, handler);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TlsTextsError(
        `using CONTROL_PLANE_TLS_CERT and CONTROL_PLANE_TLS_KEY (with CONTROL_PLANE_TLS_PASSPHRASE where the key is encrypted): ${reason}`,
        { cause: error },
      );
    }
  };
}
