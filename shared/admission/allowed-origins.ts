/**
 * Whether the page that sent a request (its Origin, else its Referer) is in one of the domains or a subdomain; undefined
 * allows all domains. A request that names no page comes from a server, which domains do not restrict.
 */
export function isPageAllowed(domains: AllowedDomains | undefined, origin: string, referer: string): boolean {
  if (domains === undefined) return true;
  const host = requestHost(origin, referer);
  return host === undefined || domains.has(host);
}

/** Domains as an operator listed them. */
export type AllowedDomains = {
  /** Whether a host is one of the domains or a subdomain. */
  has(host: string): boolean;
};

/** Undefined, which allows all domains, if none are listed. Parsed on first use: thousands take many milliseconds. */
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
