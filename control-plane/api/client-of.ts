import type { IncomingHttpHeaders } from 'node:http';

/** A client that expects its own answers at some addresses. */
export type Client = 'platform-library';

/**
 * Who makes a request, where that matters. The generated libraries of the specified service, in every language, say
 * theirs in `x-stainless-lang` with each request; nothing else sends it.
 */
export function clientOf(headers: IncomingHttpHeaders): Client | undefined {
  return headers['x-stainless-lang'] === undefined ? undefined : 'platform-library';
}
