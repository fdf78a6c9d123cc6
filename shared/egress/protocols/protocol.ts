import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';

/**
 * A protocol other than HTTP. Destination kinds describe requests as for HTTP: the URL's scheme names the protocol,
 * the URL's host the server, an Authorization header (Basic) the login, and the body contains the command as JSON. The
 * answer has an HTTP status, which classifies it like any other answer, and a JSON body with the server's own codes.
 */
export type Protocol = {
  /** URL schemes with the colon, such as `redis:`. */
  readonly schemes: readonly string[];
  /** Server ports below 1024, in addition to the ports that every destination may use. */
  readonly ports: readonly number[];
  /** Maximum sessions per sender. */
  readonly sessionsMax: number;
  /**
   * Connects and logs in. Rejects with RefusedError if the server refuses, and with another error if it is
   * unreachable. The caller destroys the sockets after a rejection or a timeout.
   */
  open(request: OutboundRequest, network: Network): Promise<Session>;
};

/** Serves one request at a time. */
export type Session = {
  /** False once the session must not be used any more, such as after its connection ended. */
  readonly isUsable: boolean;
  /** Rejects if there is no complete response; the caller then closes the session. */
  exchange(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Ends the session's connections at once. */
  close(): void;
};

export type ConnectTarget = {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
};

/** Connects to an address that the egress rules allow; if `isSecure`, with TLS and a verified certificate. */
export type Connect = (target: ConnectTarget) => Promise<Socket>;

export type Network = {
  readonly connect: Connect;
  /** Certificate authorities; undefined: the system's. */
  readonly trusted: SecureContext | undefined;
  /** Limit for one connection with its TLS handshake, enforced by `connect`. */
  readonly connectTimeoutMs: number;
};

/** The server was reached and refused the session. */
export class RefusedError extends Error {
  readonly code = 'SESSION_REFUSED';
  readonly answer: OutboundAnswer;
  constructor(answer: OutboundAnswer) {
    super('opening a session: the server refused it');
    this.answer = answer;
  }
}

export function protocolAnswer(status: number, body: unknown): OutboundAnswer {
  return { status, headers: {}, body: JSON.stringify(body) };
}

/** Host and port of a request's URL. */
export function serverOf(
  { url }: OutboundRequest,
  standardPort: number,
): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? standardPort : Number(port) };
}

export type Login = { readonly user: string; readonly password: string };

/** The login of a request; undefined if it has none. */
export function loginOf({ headers }: OutboundRequest): Login | undefined {
  const [, encoded] = /^Basic (\S+)$/.exec(headers['authorization'] ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
