import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** PEM files of the gateway's own certificate. The engine reads them itself. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string; readonly passphrase?: string };

export class TlsFilesError extends Error {
  readonly code = 'tls_files';
}

/** Throws TlsFilesError unless the files can be read and belong together: the engine would not say what is wrong. */
export function checkTlsFiles({ certFile, keyFile, passphrase }: TlsFiles): void {
  const cert = read('GATEWAY_TLS_CERT_FILE', certFile);
  const key = read('GATEWAY_TLS_KEY_FILE', keyFile);
  try {
    createSecureContext({ cert, key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TlsFilesError(
      `reading GATEWAY_TLS_CERT_FILE and GATEWAY_TLS_KEY_FILE (with GATEWAY_TLS_PASSPHRASE where the key is encrypted): ${reason}`,
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
