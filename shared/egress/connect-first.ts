import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Delay before the next address is tried as well (RFC 8305, section 5: Connection Attempt Delay). */
const aloneMs = 250;
/** Maximum addresses that are tried; a name server may return any number. */
const addressesMax = 8;

const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** Called once, with a connected socket or the error. */
export type Connected = (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void;

/**
 * Connects to the first of several addresses that responds. Attempts run in parallel, so a dead address does not
 * delay the others. Returns a function that ends all attempts; `done` is then not called.
 */
export function connectFirst(addresses: readonly LookupAddress[], port: number, done: Connected): () => void {
  const waiting = alternateFamilies(addresses).slice(0, addressesMax);
  const attempts = new Set<Socket>();
  let failure: Error | undefined;
  let next: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(next);
    waiting.length = 0;
    for (const attempt of attempts) attempt.destroy();
    attempts.clear();
  };
  const tryNext = (): void => {
    clearTimeout(next);
    const address = waiting.shift();
    if (address === undefined) {
      if (attempts.size === 0 && failure !== undefined) done(failure, null);
      return;
    }
    const socket = connect({ ...socketOptions, host: address.address, port });
    attempts.add(socket);
    const failed = (error: Error): void => {
      // Another attempt has succeeded, or all attempts were ended.
      if (!attempts.delete(socket)) return;
      if (failure === undefined || hasNoRoute(failure)) failure = error;
      socket.destroy();
      tryNext();
    };
    socket.on('error', failed);
    socket.once('connect', () => {
      if (!attempts.delete(socket)) return;
      socket.removeListener('error', failed);
      stop();
      done(null, socket);
    });
    if (waiting.length > 0) next = setTimeout(tryNext, aloneMs);
  };
  tryNext();
  return stop;
}

/** IPv4 and IPv6 in turn, starting with the first address's family, because one family may have no route from here. */
function alternateFamilies(addresses: readonly LookupAddress[]): LookupAddress[] {
  const own = addresses.filter(({ family }) => family === addresses[0]?.family);
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family);
  return own.flatMap((address, index) => [address, ...other.slice(index, index + 1)]).concat(other.slice(own.length));
}

/** Whether the host cannot reach the address family at all. Another address's error is more useful. */
function hasNoRoute(error: Error): boolean {
  return 'code' in error && (error.code === 'ENETUNREACH' || error.code === 'EADDRNOTAVAIL');
}
