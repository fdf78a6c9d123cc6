import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressRules } from './egress-rules.ts';
import { EgressError } from './egress-rules.ts';
import { createNameResolver } from './resolve-name.ts';
import type { ResolveName } from './resolve-name.ts';

/** How long an answer of the name server is used again, in ms. */
const keptMs = 30_000;
/** How long one is used while the name server is asked again, or does not answer, in ms. */
const staleMaxMs = 600_000;
const namesKeptMax = 10_000;

type Kept = { addresses: Promise<readonly LookupAddress[]>; askedAtMs: number; answeredAtMs: number };

/**
 * Looks up names for outgoing connections and gives only addresses the rules allow. Answers are kept for a while and
 * one name is asked for once at a time. Whoever was answered before goes on with that answer until there is a new one, so
 * that a name server that hangs holds up nobody.
 */
export function createGuardedLookup(rules: EgressRules, resolveName: ResolveName = createNameResolver()) {
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
  /** For one port: whether an address is allowed depends on it. */
  return (port: number): LookupFunction =>
    (hostname, options, callback) => {
      addressesOf(hostname).then(
        (found) => {
          const family = options.family === 4 || options.family === 6 ? options.family : undefined;
          const allowed = found.filter(
            (address) => (family === undefined || address.family === family) && rules.allows(address.address, port),
          );
          const [first] = allowed;
          if (first === undefined) callback(new EgressError('resolving a destination: no address is allowed'), '');
          else if (options.all === true) callback(null, [...allowed]);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    };
}

function forgetOldest(kept: Map<string, Kept>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}

/**
 * Opens sockets only to allowed addresses. Checked three times: the address as it is written (a lookup is not asked
 * for one), every address a name leads to, and the one the socket ended up at.
 */
export function createGuardedConnector(
  rules: EgressRules,
  lookupFor: ReturnType<typeof createGuardedLookup>,
  connectTimeoutMs: number,
): buildConnector.connector {
  const connectors = new Map<number, buildConnector.connector>();
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known !== undefined) return known;
    const made = buildConnector({ timeout: connectTimeoutMs, lookup: lookupFor(port) });
    connectors.set(port, made);
    return made;
  };
  return (options, callback) => {
    const port = portOf(options);
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !rules.allows(literal, port)) {
      callback(new EgressError('connecting to a destination: its address is not allowed'), null);
      return;
    }
    connectorFor(port)(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
      } else if (rules.allows(socket.remoteAddress ?? '', port)) {
        callback(null, socket);
      } else {
        socket.destroy();
        callback(new EgressError('connecting to a destination: the address reached is not allowed'), null);
      }
    });
  };
}

function portOf({ port, protocol }: buildConnector.Options): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
