/** Headers of a CORS preflight request (Fetch standard); '' if absent. */
export type Preflight = { readonly requestHeaders: string; readonly requestPrivateNetwork: string };

/** Maximum number of characters that are read of the list of header names. */
const namesCharactersMax = 4096;
/** A header's name (RFC 9110, section 5.6.2). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** How long a browser may reuse the answer, in s: two hours, Chromium's maximum. */
const keptS = 7200;

/**
 * Headers of an answer that allows every header that the preflight names. Tracing libraries add headers to a page's
 * requests, and a fixed list would miss some. No answer depends on a cookie, so a refusal would protect nothing.
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
  // The limit may have cut off part of the last name.
  if (list.length > namesCharactersMax) names.pop();
  return names.filter((name) => token.test(name)).join(', ');
}
