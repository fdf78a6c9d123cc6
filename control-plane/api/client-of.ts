import type { IncomingHttpHeaders } from 'node:http';

/** A client that expects its own answers at some addresses. */
export type Client = 'platform-library';

/**
 * The client that makes a request, where that matters. The generated libraries of the specified service, in every language,
 * send their language in `x-stainless-lang` with each request; no other client sends it.
 */
export function clientOf(headers: IncomingHttpHeaders): Client | undefined {
  return headers['x-stainless-lang'] === undefined ? undefined : 'platform-library';
}
