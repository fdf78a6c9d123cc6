import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { buildConnector, errors } from 'undici';
import { connectFirst } from './connect-first.ts';
import type { Connected } from './connect-first.ts';
import type { EgressRules } from './egress-rules.ts';
import { EgressError } from './egress-rules.ts';
import { createNameResolver } from './resolve-name.ts';
import type { ResolveName } from './resolve-name.ts';

/** How long a DNS answer is reused, in ms. */
const keptMs = 30_000;
/** How long an expired answer is used while the name server is queried again or does not respond, in ms. */
const staleMaxMs = 600_000;
const namesKeptMax = 10_000;

type Kept = { addresses: Promise<readonly LookupAddress[]>; askedAtMs: number; answeredAtMs: number };

/**
 * Resolves names for outgoing connections and returns only allowed addresses. Answers are cached, and each name has
 * one lookup at a time. A known name keeps its last answer, for up to `staleMaxMs`, until a new one arrives, so that a
 * hanging name server delays no request.
 */
export function createGuardedLookup(
  rules: EgressRules,
  resolveName: ResolveName = createNameResolver({ asksPlatform: rules.opensRanges }),
) {
  const kept = new Map<string, Kept>();
  const addressesOf = (hostname: string): Promise<readonly LookupAddress[]> => {
    const nowMs = performance.now();
    const known = kept.get(hostname);
    const isUsable = known !== undefined && nowMs - known.answeredAtMs < staleMaxMs;
    if (isUsable && nowMs - known.askedAtMs < keptMs) return known.addresses;
    const asked = resolveName(hostname);
    if (isUsable) known.askedAtMs = nowMs;
    else if (kept.size >= namesKeptMax) forgetOldest(kept);
    const entry = isUsable ? known : { addresses: asked, askedAtMs: nowMs, answeredAtMs: nowMs };
    kept.set(hostname, entry);
    asked.then(
      () => {
        entry.addresses = asked;
        entry.answeredAtMs = performance.now();
      },
      () => void (entry.addresses === asked && kept.delete(hostname)),
    );
    return entry.addresses;
  };
  /** Rejects with EgressError if the rules allow no address of the name on this port. */
  return async (hostname: string, port: number): Promise<readonly LookupAddress[]> => {
    const found = await addressesOf(hostname);
    const allowed = found.filter(({ address }) => rules.allows(address, port));
    if (allowed.length === 0) throw new EgressError('resolving a destination: no address is allowed');
    return allowed;
  };
}

function forgetOldest(kept: Map<string, Kept>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}

/**
 * Opens sockets only to allowed addresses. Checks an address as written (which needs no lookup), every address that a
 * name resolves to, and the address of the connected socket before a byte is sent.
 */
export function createGuardedConnector(
  rules: EgressRules,
  lookup: ReturnType<typeof createGuardedLookup>,
  connectTimeoutMs: number,
): buildConnector.connector {
  // No timeout here: lookup, connection and TLS handshake share connectTimeoutMs.
  const secure = buildConnector({ timeout: 0 });
  return (options, callback) => {
    const port = portOf(options);
    let abandon = (): void => undefined;
    let isOver = false;
    const end: Connected = (...result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      callback(...result);
    };
    const timer = setTimeout(() => {
      abandon();
      end(new errors.ConnectTimeoutError('connecting to a destination: no connection in time'), null);
    }, connectTimeoutMs);
    const connected: Connected = (...[error, socket]) => {
      if (error !== null) {
        end(error, null);
      } else if (!rules.allows(socket.remoteAddress ?? '', port)) {
        socket.destroy();
        end(new EgressError('connecting to a destination: the address reached is not allowed'), null);
      } else if (options.protocol === 'https:') {
        abandon = () => void socket.destroy();
        secure({ ...options, httpSocket: socket }, (...[failure, secured]) =>
          failure === null ? end(null, secured) : end(failure, null),
        );
      } else {
        end(null, socket);
      }
    };
    const connect = (addresses: readonly LookupAddress[]): void => {
      if (!isOver) abandon = connectFirst(addresses, port, connected);
    };
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    const family = isIP(literal);
    if (family === 0)
      lookup(options.hostname, port)
        .then(connect)
        .catch((error: Error) => end(error, null));
    else if (rules.allows(literal, port)) connect([{ address: literal, family }]);
    else end(new EgressError('connecting to a destination: its address is not allowed'), null);
  };
}

function portOf({ port, protocol }: buildConnector.Options): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
