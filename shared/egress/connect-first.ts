import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** How long one address is tried alone before the next is tried beside it, in ms (RFC 8305, section 5). */
const aloneMs = 250;
/** Addresses of one name that are tried: a name server may answer with any number. */
const addressesMax = 8;

const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** Called once, with a connected socket or why there is none. */
export type Connected = (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void;

/**
 * Connects to the first of several addresses that answers. An attempt goes on while later ones run, so an address that is
 * slow is reached although another is dead. Returns what ends all attempts; `done` is then not called.
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
      // It was not this one that counts, or it is the caller's by now.
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

/** The families in turn, beginning with that of the first address: one of them may have no route here. */
function alternateFamilies(addresses: readonly LookupAddress[]): LookupAddress[] {
  const own = addresses.filter(({ family }) => family === addresses[0]?.family);
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family);
  return own.flatMap((address, index) => [address, ...other.slice(index, index + 1)]).concat(other.slice(own.length));
}

/** Says of this machine only that it cannot reach a family, which is no news where the other family failed too. */
function hasNoRoute(error: Error): boolean {
  return 'code' in error && (error.code === 'ENETUNREACH' || error.code === 'EADDRNOTAVAIL');
}
