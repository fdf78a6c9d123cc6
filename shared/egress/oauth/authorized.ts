import type { OutboundRequest } from '../outbound.ts';

/** The request with a token where it needs one, as it goes out. */
export function authorized({ oauth, ...request }: OutboundRequest, token: string): OutboundRequest {
  if (oauth === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: `${oauth.scheme ?? 'Bearer'} ${token}` } };
}
