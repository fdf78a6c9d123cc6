import type { AddressRanges } from './address-ranges.ts';
import { addressOfBytes, compileAddressRanges, normalizeAddress } from './address-ranges.ts';
import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { text } from '../runtime/variables.ts';

const remembered = 10_000;

/** Determines the address of a client behind proxies. */
export type ClientAddress = {
  /** The last address in X-Forwarded-For that belongs to no trusted proxy, or else the connection's (4 or 16 bytes). */
  of(connection: ArrayBuffer, forwardedFor: string): string;
  /** As `of`, for a connection whose address is known as text. */
  ofText(connection: string, forwardedFor: string): string;
};

/** Trusts only those entries of `X-Forwarded-For` that `trusted` proxies wrote. */
export function createClientAddress(trusted: AddressRanges, anyTrusted: boolean): ClientAddress {
  // A connection sends many requests: formatting its address each time would cost more than the rest of admission.
  const ofFour = new Map<number, string>();
  const ofMany = new Map<string, string>();
  const spell = (bytes: Uint8Array): string => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    const four = bytes.length === 4;
    const key = four ? ((a << 24) | (b << 16) | (c << 8) | d) >>> 0 : Buffer.from(bytes).toString('latin1');
    return typeof key === 'number' ? recall(ofFour, key, bytes) : recall(ofMany, key, bytes);
  };
  const behind = (own: string, forwardedFor: string): string => {
    if (!anyTrusted || forwardedFor === '' || !trusted.includes(own)) return own;
    return lastUntrusted(forwardedFor, trusted) ?? own;
  };
  return {
    of: (connection, forwardedFor) => behind(spell(new Uint8Array(connection)), forwardedFor),
    ofText: (connection, forwardedFor) => behind(normalizeAddress(connection) ?? '', forwardedFor),
  };
}

function recall<Key>(known: Map<Key, string>, key: Key, bytes: Uint8Array): string {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= remembered) known.clear();
  const address = addressOfBytes(bytes) ?? '';
  known.set(key, address);
  return address;
}

const hopsMax = 32;

function lastUntrusted(forwardedFor: string, trusted: AddressRanges): string | undefined {
  // The client writes the first hops, and as many as it likes: only the last ones are read.
  const hops = forwardedFor.split(',').slice(-hopsMax);
  let outermost: string | undefined;
  for (const hop of hops.toReversed()) {
    const address = normalizeAddress(stripPort(hop.trim()));
    // Entries to the left of one that cannot be read are not trusted: only a trusted proxy's entry can confirm them.
    if (address === undefined) return outermost;
    outermost = address;
    if (!trusted.includes(address)) return address;
  }
  return outermost;
}

/** Removes the port from `address:port`, as some proxies write it; IPv6 addresses are then in brackets. */
function stripPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']'));
  const colons = hop.split(':').length - 1;
  return colons === 1 ? hop.slice(0, hop.indexOf(':')) : hop;
}

/** The proxies whose X-Forwarded-For is trusted. */
export const { variables: trustedProxiesEnv, read: readTrustedProxies } = defineSettings(
  fromEnv(
    {
      TRUSTED_PROXIES: text(
        'Addresses or CIDR ranges, comma separated, of proxies and gateways whose X-Forwarded-For is believed',
        {
          minLength: 0,
          default: '',
          problems(list) {
            const { rejected } = compileAddressRanges(entriesOf(list));
            return rejected.length === 0 ? [] : [`holds no address or range: ${rejected.join(', ')}`];
          },
        },
      ),
    },
    (env) => {
      const proxies = entriesOf(env.TRUSTED_PROXIES);
      const ranges = compileAddressRanges(proxies);
      return { ranges, clientAddress: createClientAddress(ranges, proxies.length > 0) };
    },
  ),
);

const entriesOf = (list: string): string[] => list.split(',').filter((entry) => entry.trim() !== '');
