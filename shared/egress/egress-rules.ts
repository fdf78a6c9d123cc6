import ipaddr from 'ipaddr.js';
import { text } from '../runtime/variables.ts';

/** CIDR ranges. */
export type EgressRanges = {
  /** Where destinations may be although it is not public. */
  readonly allowed: readonly string[];
  /** Where none may be, whatever is allowed. */
  readonly denied: readonly string[];
};

export const egressEnv = {
  EGRESS_ALLOW: text(
    'CIDR ranges, comma separated, that destinations may be in although they are not public. The same for the pipeline and the control plane',
    {
      minLength: 0,
      default: '',
    },
  ),
  EGRESS_DENY: text(
    'CIDR ranges, comma separated, that no destination may be in, those of EGRESS_ALLOW included: where the services, the log and PostgreSQL are. The same for the pipeline and the control plane',
    {
      minLength: 0,
      default: '',
    },
  ),
};

type EgressVariables = { readonly EGRESS_ALLOW: string; readonly EGRESS_DENY: string };

/** What the environment says, once `rangeProblems` has found nothing wrong with it. */
export function readEgressRanges(env: EgressVariables): EgressRanges {
  return { allowed: readRanges(env.EGRESS_ALLOW) ?? [], denied: readRanges(env.EGRESS_DENY) ?? [] };
}

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
 * or of a cloud's metadata (ranges of RFC 6890). `allowedRanges`, a list of CIDR ranges, are open on every port, but for
 * what lies in `deniedRanges` as well.
 */
export function createEgressRules(allowedRanges: readonly string[], deniedRanges: readonly string[] = []): EgressRules {
  const opened = createRangeCheck(allowedRanges);
  const denied = createRangeCheck(deniedRanges);
  return {
    allows(written, port) {
      if (!ipaddr.isValid(written)) return false;
      // An IPv4 address may come dressed as IPv6.
      const address = ipaddr.process(written);
      if (denied(address)) return false;
      if (opened(address)) return true;
      if (deniedAddresses.has(address.toString()) || !isPublic(address)) return false;
      return port === 80 || port === 443 || port >= 1024;
    },
  };
}

type RangeCheck = (address: ipaddr.IPv4 | ipaddr.IPv6) => boolean;

function createRangeCheck(written: readonly string[]): RangeCheck {
  const ranges = written.map((range) => ipaddr.parseCIDR(range));
  return (address) => ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
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

/** What is wrong with the lists. */
export function rangeProblems(env: EgressVariables): string[] {
  return (['EGRESS_ALLOW', 'EGRESS_DENY'] as const).flatMap((name) =>
    readRanges(env[name]) === undefined ? [`${name} must hold CIDR ranges, such as 10.0.0.0/8`] : [],
  );
}
