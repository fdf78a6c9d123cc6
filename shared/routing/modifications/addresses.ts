import ipaddr from 'ipaddr.js';
import { sha256 } from './digests.ts';
import type { ChangeText } from './digests.ts';

type Address = { readonly kind: 'ipv4' | 'ipv6'; readonly bytes: readonly number[] };

const addressCharactersMax = 50;

/**
 * An invented address from reserved ranges, always the same for the same address and salt: 198.18.0.0/15 for IPv4 (RFC
 * 2544) and 2001:db8::/32 for IPv6 (RFC 3849).
 */
export const fakeIp: ChangeText = onAddress(({ kind, bytes }, salt) => {
  const random = Buffer.from(sha256(salt + bytes.join('.')), 'hex');
  if (kind === 'ipv4') return [198, 18 + ((random[0] ?? 0) & 1), ...random.subarray(1, 3)];
  return [0x20, 0x01, 0x0d, 0xb8, ...random.subarray(0, 12)];
});

/** The network only: the first 24 bits of IPv4, the first 48 of IPv6. Enough for a region, too little for a person. */
export const regionalIp: ChangeText = onAddress(({ kind, bytes }) => keepBits(bytes, kind === 'ipv4' ? 24 : 48));

/** A coarser network: the first 16 bits of IPv4, the first 32 of IPv6. About as wide as a market area. */
export const dmaIp: ChangeText = onAddress(({ kind, bytes }) => keepBits(bytes, kind === 'ipv4' ? 16 : 32));

function keepBits(bytes: readonly number[], bits: number): readonly number[] {
  return bytes.map((byte, index) => (index * 8 < bits ? byte : 0));
}

function onAddress(change: (address: Address, salt: string) => readonly number[]): ChangeText {
  return (text, salt) => {
    const address = readAddress(text.trim());
    return address === undefined ? undefined : ipaddr.fromByteArray([...change(address, salt)]).toString();
  };
}

/** Reads an IPv4 address in four decimal parts, or an IPv6 address; an IPv4 address written as IPv6 counts as IPv4. */
function readAddress(text: string): Address | undefined {
  if (text.length > addressCharactersMax) return undefined;
  // Only four decimal parts: some parsers accept 1 and 0x7f.1, but a visitor's address never has this form.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  return { kind: address.kind(), bytes: address.toByteArray() };
}
