import type { IncomingHttpHeaders } from 'node:http';

/** A kind of client that gets a different form of reply at some addresses. */
export type Client = 'platform-library';

/**
 * The client of a request, if the reply depends on it. The generated libraries of the specified service, in every
 * language, send `x-stainless-lang` with each request; no other client sends it.
 */
export function clientOf(headers: IncomingHttpHeaders): Client | undefined {
  return headers['x-stainless-lang'] === undefined ? undefined : 'platform-library';
}
