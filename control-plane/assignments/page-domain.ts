/**
 * Whether the page a request came from, by its Origin, else its Referer, lies in one of the domains or below one. A
 * request that names no page comes from a server, and domains say nothing of those.
 */
export function isPageAllowed(
  domains: readonly string[] | undefined,
  origin: string | undefined,
  referer: string | undefined,
): boolean {
  const page = origin ?? referer;
  if (domains === undefined || page === undefined || page === '') return true;
  // Such as `Origin: null` of a sandboxed page.
  if (!URL.canParse(page)) return false;
  const host = new URL(page).hostname;
  return domains.some((domain) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`));
}
