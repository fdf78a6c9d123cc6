import ipaddr from 'ipaddr.js';
import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { text } from '../runtime/variables.ts';

/** CIDR ranges, each optionally limited to one port, such as `10.0.0.0/8`, `127.0.0.1/32:8090`, `[::1/128]:8090`. */
const ranges = (meaning: string) =>
  text(meaning, {
    minLength: 0,
    default: '',
    problems: (list) =>
      readRanges(list) === undefined
        ? ['must hold CIDR ranges, such as 10.0.0.0/8, or with a port 10.0.0.5/32:8080 or [fd00::5/128]:8080']
        : [],
  });

export const { variables: egressEnv, read: readEgressRanges } = defineSettings({
  /** Non-public ranges that destinations may use. */
  allowed: fromEnv(
    {
      EGRESS_ALLOW: ranges(
        'CIDR ranges, comma separated, of addresses that destinations may use although they are not public; `10.0.0.5/32:8080` and `[fd00::5/128]:8080` allow one port only. If it is empty, only name servers are asked for names with a dot, not the hosts file. Set the same for pipelines and control planes',
      ),
    },
    (env) => readRanges(env.EGRESS_ALLOW) ?? [],
  ),
  /** Ranges that no destination may use, even if allowed. */
  denied: fromEnv(
    {
      EGRESS_DENY: ranges(
        'CIDR ranges, comma separated, of addresses that no destination may use, even if EGRESS_ALLOW contains them: the networks of the services, the log and PostgreSQL. A range with a port denies that port only. Set the same for pipelines and control planes',
      ),
    },
    (env) => readRanges(env.EGRESS_DENY) ?? [],
  ),
});

export type EgressRanges = ReturnType<typeof readEgressRanges>;

/** Decides which addresses a destination may connect to. */
export type EgressRules = {
  /**
   * Whether a connection to this address and port is allowed. Text that is not an address is refused. `ports` are
   * further allowed ports below 1024, for a protocol other than HTTP.
   */
  allows(address: string, port: number, ports?: readonly number[]): boolean;
  /** Whether there are allowed ranges besides the public addresses. */
  readonly opensRanges: boolean;
};

/** The rules forbid the address or the port. */
export class EgressError extends Error {}

// A public address that only machines in Azure can reach; it serves Azure's metadata and agents.
const deniedAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);
const portMax = 65_535;
// All allocated IPv6 addresses. Other IPv6 addresses may embed an IPv4 address: ::7f00:1 is 127.0.0.1.
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Allows public unicast addresses only, on port 80, 443 or an unprivileged port, and so never the host itself, the
 * local network or cloud metadata (ranges of RFC 6890). `allowedRanges` are allowed too, on every port unless a range
 * names one, except addresses that are also in `deniedRanges`. Both have the form that `readRanges` returns.
 */
export function createEgressRules(allowedRanges: readonly string[], deniedRanges: readonly string[] = []): EgressRules {
  const opened = createRangeCheck(allowedRanges);
  const denied = createRangeCheck(deniedRanges);
  return {
    opensRanges: allowedRanges.length > 0,
    allows(written, port, ports = []) {
      if (!ipaddr.isValid(written) || !(port >= 1 && port <= portMax)) return false;
      // Also unmaps an IPv4 address that is mapped into IPv6.
      const address = ipaddr.process(written);
      if (denied(address, port)) return false;
      if (opened(address, port)) return true;
      if (deniedAddresses.has(address.toString()) || !isPublic(address)) return false;
      return port === 80 || port === 443 || port >= 1024 || ports.includes(port);
    },
  };
}

type RangeCheck = (address: ipaddr.IPv4 | ipaddr.IPv6, port: number) => boolean;

function createRangeCheck(written: readonly string[]): RangeCheck {
  const ranges = written.map(readRange).filter((range) => range !== undefined);
  return (address, port) =>
    ranges.some(
      ({ range: [base, bits], port: only }) =>
        (only === undefined || only === port) && base.kind() === address.kind() && address.match(base, bits),
    );
}

type PortRange = { readonly range: ReturnType<typeof ipaddr.parseCIDR>; readonly port: number | undefined };

const withPort = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[^:[\]]+)):(?<port>[0-9]{1,5})$/;

/** Reads one range, with its port if the text names one; undefined for text that is not a range. */
function readRange(text: string): PortRange | undefined {
  const { v6, v4, port } = withPort.exec(text)?.groups ?? {};
  const written = v6 ?? v4 ?? text;
  if (!ipaddr.isValidCIDR(written)) return undefined;
  const range = ipaddr.parseCIDR(written);
  if (port === undefined) return { range, port: undefined };
  const isFitting = Number(port) >= 1 && Number(port) <= portMax && (v6 !== undefined) === (range[0].kind() === 'ipv6');
  return isFitting ? { range, port: Number(port) } : undefined;
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Reads a comma-separated list of ranges; undefined if an entry is not a range. */
export function readRanges(list: string): readonly string[] | undefined {
  const ranges = list
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  return ranges.every((range) => readRange(range) !== undefined) ? ranges : undefined;
}
