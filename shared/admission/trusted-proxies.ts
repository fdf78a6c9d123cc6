import { compileAddressRanges } from './address-ranges.ts';

/** Entries of a comma-separated list of proxies whose X-Forwarded-For is believed. */
export const splitProxies = (text: string): string[] => text.split(',').filter((entry) => entry.trim() !== '');

/** What is wrong with the list in TRUSTED_PROXIES. */
export function proxyProblems(text: string): string[] {
  const { rejected } = compileAddressRanges(splitProxies(text));
  return rejected.length === 0 ? [] : [`TRUSTED_PROXIES holds no address or range: ${rejected.join(', ')}`];
}
