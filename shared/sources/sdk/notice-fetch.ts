import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { ProviderEvent } from './provider-event.ts';

/**
 * How to fetch the object of a notification from providers that send only an id, and that return the object to a
 * request with the source owner's token. Functions are pure; the dispatcher sends and retries the request and stores
 * the event.
 */
export type NoticeFetch = {
  /** The provider's name for the token. */
  readonly tokenName: string;
  /** The base URL of the provider, unless the operator sets another. */
  readonly url: string;
  /** The request for the object that an event's properties refer to; undefined if there is nothing to fetch. */
  request(notice: JsonObject, access: FetchAccess): Pick<OutboundRequest, 'method' | 'url' | 'headers'> | undefined;
  /** The meaning of a response without the object; undefined if the status decides. */
  readFailure(answer: OutboundAnswer): Outcome | undefined;
  /** The event built from the response; undefined if the response does not contain such an object. */
  readEvent(answer: JsonObject): ProviderEvent | undefined;
};

/** The base URL, without a trailing slash, and the token. */
export type FetchAccess = { readonly url: string; readonly token: string };
