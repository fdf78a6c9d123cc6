/**
 * Whether the page a request came from, by its Origin, else its Referer, lies in one of the domains or below one;
 * undefined domains are all. A request that names no page comes from a server, and domains say nothing of those.
 */
export function isPageAllowed(domains: readonly string[] | undefined, origin: string, referer: string): boolean {
  if (domains === undefined) return true;
  const host = requestHost(origin, referer);
  return host === undefined || isDomainAllowed(host, domains);
}

/** Domains as an operator listed them, ready to compare; undefined, all of them, where none are listed. */
export function compileDomains(listed: readonly string[] | null | undefined): readonly string[] | undefined {
  if (listed === null || listed === undefined || listed.length === 0) return undefined;
  // An entry that cannot be read admits nobody; it does not lift the restriction.
  return listed.flatMap((domain) => normalizeDomain(domain) ?? []);
}

/** The host a request was made from, by its Origin, else its Referer: undefined when it names neither. '' when it cannot be read. */
function requestHost(origin: string, referer: string): string | undefined {
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
function isDomainAllowed(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || (host.endsWith(domain) && host.at(-domain.length - 1) === '.'));
}

/** A domain as an operator may have typed it, a full address or `*.example.com`, reduced to its host. */
function normalizeDomain(text: string): string | undefined {
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
