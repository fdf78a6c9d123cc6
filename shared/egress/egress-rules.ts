import ipaddr from 'ipaddr.js';
import { text } from '../runtime/variables.ts';

export const egressEnv = {
  EGRESS_ALLOW: text(
    'CIDR ranges, comma separated, that destinations may be in although they are not public. The same for the pipeline and the control plane',
    {
      minLength: 0,
      default: '',
    },
  ),
};

/** Which addresses a destination may be at. */
export type EgressRules = {
  /** Whether a connection to this address and port may be made. Text that is no address is refused. */
  allows(address: string, port: number): boolean;
};

export class EgressError extends Error {
  readonly code = 'egress_denied';
}

// An address of the public range that answers only inside one cloud: its metadata and agent channel.
const deniedAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);
// All of IPv6 that is given out. What lies outside holds IPv4 addresses in disguise too: ::7f00:1 is 127.0.0.1.
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public unicast addresses only, on port 80, 443 or an unprivileged one: nothing on this machine, in the local network
 * or of a cloud's metadata (ranges of RFC 6890). `allowedRanges`, a list of CIDR ranges, are open on every port.
 */
export function createEgressRules(allowedRanges: readonly string[]): EgressRules {
  const opened = allowedRanges.map((range) => ipaddr.parseCIDR(range));
  return {
    allows(written, port) {
      if (!ipaddr.isValid(written)) return false;
      // An IPv4 address may come dressed as IPv6.
      const address = ipaddr.process(written);
      const isOpened = opened.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
      if (isOpened) return true;
      if (deniedAddresses.has(address.toString()) || !isPublic(address)) return false;
      return port === 80 || port === 443 || port >= 1024;
    },
  };
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Reads a comma-separated list of CIDR ranges; undefined when one of them is none. */
export function readRanges(list: string): readonly string[] | undefined {
  const ranges = list
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  return ranges.every((range) => ipaddr.isValidCIDR(range)) ? ranges : undefined;
}

/** What is wrong with the list in EGRESS_ALLOW. */
export function rangeProblems(list: string): string[] {
  return readRanges(list) === undefined ? ['EGRESS_ALLOW must hold CIDR ranges, such as 10.0.0.0/8'] : [];
}
