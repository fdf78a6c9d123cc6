import { text } from '../runtime/variables.ts';
import { compileAddressRanges } from './address-ranges.ts';

export const trustedProxiesEnv = {
  TRUSTED_PROXIES: text(
    'Addresses or CIDR ranges, comma separated, of proxies and gateways whose X-Forwarded-For is believed',
    {
      minLength: 0,
      default: '',
    },
  ),
};

/** Entries of a comma-separated list of proxies whose X-Forwarded-For is believed. */
export const splitProxies = (list: string): string[] => list.split(',').filter((entry) => entry.trim() !== '');

/** What is wrong with the list in TRUSTED_PROXIES. */
export function proxyProblems(list: string): string[] {
  const { rejected } = compileAddressRanges(splitProxies(list));
  return rejected.length === 0 ? [] : [`TRUSTED_PROXIES holds no address or range: ${rejected.join(', ')}`];
}
