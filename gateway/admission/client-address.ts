import type { AddressRanges } from './address-ranges.ts';
import { normalizeAddress } from './address-ranges.ts';

const remembered = 10_000;

/** Finds out the address of a client behind proxies. */
export type ClientAddress = {
  /** The client's address: the connection's own, or the last one in X-Forwarded-For that no trusted proxy has. */
  of(connection: string, forwardedFor: string): string;
};

/** `X-Forwarded-For` is believed only as far as it was written by `trusted` proxies. */
export function createClientAddress(trusted: AddressRanges, anyTrusted: boolean): ClientAddress {
  // A connection sends many requests; parsing its address each time would cost more than the rest of admission.
  const normal = new Map<string, string>();
  const normalize = (text: string): string => {
    const known = normal.get(text);
    if (known !== undefined) return known;
    if (normal.size >= remembered) normal.clear();
    const address = normalizeAddress(text) ?? '';
    normal.set(text, address);
    return address;
  };
  return {
    of(connection, forwardedFor) {
      const own = normalize(connection);
      if (!anyTrusted || forwardedFor === '' || !trusted.includes(own)) return own;
      return lastUntrusted(forwardedFor, trusted) ?? own;
    },
  };
}

const hopsMax = 32;

function lastUntrusted(forwardedFor: string, trusted: AddressRanges): string | undefined {
  const hops = forwardedFor.split(',', hopsMax + 1);
  if (hops.length > hopsMax) return undefined;
  let outermost: string | undefined;
  for (const hop of hops.toReversed()) {
    const address = normalizeAddress(stripPort(hop.trim()));
    // Whatever stands left of something unreadable was not written by a proxy that is trusted.
    if (address === undefined) return outermost;
    outermost = address;
    if (!trusted.includes(address)) return address;
  }
  return outermost;
}

/** Some proxies write `address:port`, IPv6 in brackets. */
function stripPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']'));
  const colons = hop.split(':').length - 1;
  return colons === 1 ? hop.slice(0, hop.indexOf(':')) : hop;
}
