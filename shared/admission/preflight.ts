/** What a browser asks before a page may send a request (Fetch standard, "CORS-preflight request"), as headers; '' where absent. */
export type Preflight = { readonly requestHeaders: string; readonly requestPrivateNetwork: string };

/** Names of headers come back up to this length in all: more is no page's. */
const namesCharactersMax = 4096;
/** A header's name (RFC 9110, section 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Chromium keeps an answer for two hours at most. */
const keptS = 7200;

/**
 * Headers of an answer that allows a page all that it asks for: tracing libraries add headers to every request of a page,
 * and a list would miss some. Nothing here depends on a cookie, so nothing is gained by a refusal.
 */
export function allowPreflight(
  { requestHeaders, requestPrivateNetwork }: Preflight,
  methods: string,
): readonly (readonly [name: string, value: string])[] {
  const names = readNames(requestHeaders);
  return [
    ['access-control-allow-methods', methods],
    ...(names === '' ? [] : [['access-control-allow-headers', names] as const]),
    ...(requestPrivateNetwork === 'true' ? [['access-control-allow-private-network', 'true'] as const] : []),
    ['access-control-max-age', String(keptS)],
    ['vary', 'access-control-request-headers, access-control-request-private-network'],
  ];
}

function readNames(list: string): string {
  const names = list
    .slice(0, namesCharactersMax)
    .split(',')
    .map((name) => name.trim());
  // The last one may be cut short.
  if (list.length > namesCharactersMax) names.pop();
  return names.filter((name) => token.test(name)).join(', ');
}
