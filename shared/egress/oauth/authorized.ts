import type { OutboundRequest } from '../outbound.ts';

/** The request, with the token in its Authorization header if it needs one. */
export function authorized({ oauth, ...request }: OutboundRequest, token: string): OutboundRequest {
  if (oauth === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: `${oauth.scheme ?? 'Bearer'} ${token}` } };
}
