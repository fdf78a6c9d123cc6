/**
 * Whether the page that sent a request (by its Origin, or else its Referer) is in one of the domains or a subdomain.
 * Undefined `domains` allow all pages. A request that names no page comes from a server, which domains do not restrict.
 */
export function isPageAllowed(domains: AllowedDomains | undefined, origin: string, referer: string): boolean {
  if (domains === undefined) return true;
  const host = requestHost(origin, referer);
  return host === undefined || domains.has(host);
}

/** The domains that an operator listed. */
export type AllowedDomains = {
  /** Whether a host is one of the domains or a subdomain. */
  has(host: string): boolean;
};

/** Undefined if no domain is listed, which allows all. Domains are parsed at first use: thousands take many ms. */
export function compileDomains(listed: readonly string[] | null | undefined): AllowedDomains | undefined {
  if (listed === null || listed === undefined || listed.length === 0) return undefined;
  let domains: ReadonlySet<string> | undefined;
  return {
    has(host) {
      // An entry that cannot be parsed allows no page; it does not lift the restriction.
      domains ??= new Set(listed.flatMap((domain) => normalizeDomain(domain) ?? []));
      for (let from = 0; ;) {
        if (domains.has(host.slice(from))) return true;
        const dot = host.indexOf('.', from);
        if (dot === -1) return false;
        from = dot + 1;
      }
    },
  };
}

/** The host in a request's Origin, or else in its Referer; undefined if it has neither, '' if the header is no URL. */
function requestHost(origin: string, referer: string): string | undefined {
  const from = origin === '' ? referer : origin;
  if (from === '') return undefined;
  try {
    return new URL(from).hostname;
  } catch {
    // For example `Origin: null`, which a sandboxed page sends.
    return '';
  }
}

/** The host of a domain as an operator may have typed it, such as a full address or `*.example.com`. */
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
