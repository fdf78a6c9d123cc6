import { ErrorCode } from 'nats';
import { tlsFailure } from '../../runtime/tls-failure.ts';

/** What a failed attempt to connect means to whoever runs the process. */
export type ConnectFailure = {
  /** In words, with the variables to look at. */
  readonly reason: string;
  /** Whether trying again may help: a server that refuses us goes on refusing. */
  readonly passes: boolean;
};

const withoutTls: string = ErrorCode.ServerOptionNotAvailable;
/** The library reads these out of the server's `-ERR`, which has nothing but words. */
const notLetIn: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
]);

/** Reads a failure of the client library, which passes on what Node's TLS and the server said. */
export function connectFailure(error: unknown): ConnectFailure {
  const [message, code] = [messageOf(error), codeOf(error)];
  const refused = refusal(message, code);
  return refused === undefined
    ? { reason: message, passes: true }
    : { reason: `${refused} (${message})`, passes: false };
}

function refusal(message: string, code: string): string | undefined {
  if (notLetIn.has(code)) {
    return 'the server does not let us in: see NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY_SEED, NATS_CREDS';
  }
  if (code === withoutTls) {
    return 'TLS is asked for, by NATS_CA, NATS_CERT or tls:// in NATS_URL, and the server does not speak it';
  }
  return tlsFailure(code, message, 'NATS');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// The library wraps what it was told: the innermost code is the one that says what happened.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('chainedError' in error && error.chainedError instanceof Error) return codeOf(error.chainedError);
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
