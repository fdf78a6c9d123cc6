import { ErrorCode } from 'nats';

/** What a failed attempt to connect means to whoever runs the process. */
export type ConnectFailure = {
  /** In words, with the variables to look at. */
  readonly reason: string;
  /** Whether trying again may help: a server that refuses us goes on refusing. */
  readonly passes: boolean;
};

const withoutTls: string = ErrorCode.ServerOptionNotAvailable;
const untrusted = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

/** Reads a failure of the client library, which passes on what Node's TLS and the server said. */
export function connectFailure(error: unknown): ConnectFailure {
  const [message, code] = [messageOf(error), codeOf(error)];
  const refused = (reason: string): ConnectFailure => ({ reason: `${reason} (${message})`, passes: false });
  if (/authorization.violation|authentication.expired/i.test(`${message} ${code}`)) {
    return refused(
      'the server does not let us in: see NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY_SEED, NATS_CREDS',
    );
  }
  if (untrusted.has(code)) return refused('the certificate of the server is not signed by an authority in NATS_CA');
  if (code === 'CERT_HAS_EXPIRED') return refused('the certificate of the server has expired');
  if (code === 'CERT_NOT_YET_VALID') return refused('the certificate of the server is not valid yet');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return refused('the certificate of the server is for another name');
  if (/alert (certificate|unknown ca|bad certificate|handshake)|alert number (40|42|45|46|48|116)/i.test(message)) {
    return refused('the server does not accept our certificate: see NATS_CERT and NATS_KEY');
  }
  if (code === withoutTls) {
    return refused('TLS is asked for, by NATS_CA, NATS_CERT or tls:// in NATS_URL, and the server does not speak it');
  }
  if (code.startsWith('ERR_OSSL') || code === 'ERR_INVALID_ARG_VALUE') {
    return refused('NATS_CA, NATS_CERT or NATS_KEY cannot be used');
  }
  return { reason: message, passes: true };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// The library wraps what it was told: the innermost code is the one that says what happened.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('chainedError' in error && error.chainedError instanceof Error) return codeOf(error.chainedError);
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
