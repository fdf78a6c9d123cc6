/** The host a request was made from, by its Origin, else its Referer: undefined when it names neither. '' when it cannot be read. */
export function requestHost(origin: string, referer: string): string | undefined {
  const from = origin === '' ? referer : origin;
  if (from === '') return undefined;
  try {
    return new URL(from).hostname;
  } catch {
    // `Origin: null` of a sandboxed page, for one.
    return '';
  }
}

/** Whether `host` is one of the domains or lies below one. */
export function isDomainAllowed(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || (host.endsWith(domain) && host.at(-domain.length - 1) === '.'));
}

/** A domain as an operator may have typed it, a full address or `*.example.com`, reduced to its host. */
export function normalizeDomain(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^\*\./, '');
  try {
    const { hostname } = new URL(`http://${bare}`);
    return hostname === '' ? undefined : hostname;
  } catch {
    return undefined;
  }
}
