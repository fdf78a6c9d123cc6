import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

export type AddressRanges = {
  /** Whether an address in normal form (see normalizeAddress) is in one of the ranges. */
  includes(address: string): boolean;
  /** Entries that are neither an address nor a range, and are ignored. */
  readonly rejected: readonly string[];
};

/** Compiles addresses and CIDR ranges of IPv4 and IPv6, as text with or without spaces around it. */
export function compileAddressRanges(entries: readonly string[]): AddressRanges {
  const ranges: Range[] = [];
  const rejected: string[] = [];
  for (const entry of entries) {
    const range = parseRange(entry.trim());
    if (range === undefined) rejected.push(entry);
    else ranges.push(range);
  }
  return {
    rejected,
    includes(text) {
      const address = parseAddress(text);
      if (address === undefined) return false;
      return ranges.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));
    },
  };
}

/** Compiles the addresses that an operator allows; undefined allows all. */
export function compileWhitelistIps(listed: readonly string[] | null | undefined): AddressRanges | undefined {
  return listed === null || listed === undefined || listed.length === 0 ? undefined : compileAddressRanges(listed);
}

/** The normal form of an address: an IPv4 address mapped into IPv6 becomes IPv4. Undefined if it is not an address. */
export function normalizeAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

/** The normal form of an address that is given as 4 or 16 bytes; undefined for any other length. */
export function addressOfBytes(bytes: Uint8Array): string | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  return normalizeAddress(ipaddr.fromByteArray([...bytes]).toString());
}

function parseAddress(text: string): Address | undefined {
  // The library also accepts forms such as `0x7f.1`, in which no proxy or operator writes an address.
  const usual = text.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(text);
  return usual && ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function parseRange(text: string): Range | undefined {
  if (!text.includes('/')) {
    const address = parseAddress(text);
    return address === undefined ? undefined : [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(text)) return undefined;
  const [base, bits] = ipaddr.parseCIDR(text);
  const mapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96;
  return mapped ? [base.toIPv4Address(), bits - 96] : [base, bits];
}
