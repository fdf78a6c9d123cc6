import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { errors } from 'undici';
import type { EgressRules } from '../egress-rules.ts';
import { createGuardedConnector, createGuardedLookup } from '../guarded-lookup.ts';
import type { ResolveName } from '../resolve-name.ts';
import type { Connect } from './protocol.ts';

export type GuardedSocketOptions = {
  readonly rules: EgressRules;
  /** Allowed ports on public addresses besides the HTTP ports. */
  readonly ports: readonly number[];
  /** Limit for lookup, connection and TLS handshake together. */
  readonly connectTimeoutMs: number;
  readonly resolveName?: ResolveName | undefined;
  /** Certificate authorities; undefined: the system's. */
  readonly trusted?: SecureContext | undefined;
};

/**
 * Connects with the same checks as for HTTP requests: the address is checked as written, as resolved and as
 * connected, before a byte is sent.
 */
export function createGuardedSockets(options: GuardedSocketOptions): Connect {
  const { ports, connectTimeoutMs, trusted } = options;
  const rules: EgressRules = {
    ...options.rules,
    allows: (address, port) => options.rules.allows(address, port, ports),
  };
  const connector = createGuardedConnector(rules, createGuardedLookup(rules, options.resolveName), connectTimeoutMs);
  const plain = (host: string, port: number): Promise<Socket> =>
    new Promise((resolve, reject) => {
      // `http:` skips the connector's TLS, which would announce HTTP as the protocol.
      const target = { protocol: 'http:', hostname: host, host, port: String(port) };
      connector(target, (...[error, socket]) => {
        if (error !== null) return reject(error);
        // Ignored until a client listens, because a close event follows.
        socket.on('error', () => undefined);
        resolve(socket);
      });
    });
  return async ({ host, port, isSecure }) => {
    const startedMs = performance.now();
    const socket = await plain(host, port);
    if (!isSecure) return socket;
    return secured(socket, { host, trusted, timeoutMs: connectTimeoutMs - (performance.now() - startedMs) });
  };
}

type SecuredOptions = {
  readonly host: string;
  readonly trusted: SecureContext | undefined;
  readonly timeoutMs: number;
};

function secured(socket: Socket, { host, trusted, timeoutMs }: SecuredOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const named = isIP(host) === 0 ? { servername: host } : {};
    const secure = connectTls({ socket, host, ...named, ...(trusted === undefined ? {} : { secureContext: trusted }) });
    const fail = (error: Error): void => {
      clearTimeout(timer);
      secure.destroy();
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new errors.ConnectTimeoutError('connecting to a destination: no TLS handshake in time')),
      Math.max(1, timeoutMs),
    );
    secure.once('error', fail);
    secure.once('secureConnect', () => {
      clearTimeout(timer);
      secure.off('error', fail);
      secure.on('error', () => undefined);
      resolve(secure);
    });
  });
}
