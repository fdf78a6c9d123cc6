import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { EgressError } from './egress-rules.ts';
import type { EgressRules } from './egress-rules.ts';
import type { createGuardedLookup } from './guarded-lookup.ts';

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
