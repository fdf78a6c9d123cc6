import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { ProviderEvent } from './provider-event.ts';

/**
 * How to fetch the object of a notification: some providers send an id only, and return the object to a request with
 * the source owner's token. Functions are pure; the dispatcher sends the request, retries it, and stores the event.
 */
export type NoticeFetch = {
  /** The provider's name for the token. */
  readonly tokenName: string;
  /** The provider's default address. */
  readonly url: string;
  /** The request for the object in an event's properties; undefined for events without one. */
  request(notice: JsonObject, access: FetchAccess): Pick<OutboundRequest, 'method' | 'url' | 'headers'> | undefined;
  /** The meaning of a response without the object; undefined if the status decides. */
  readFailure(answer: OutboundAnswer): Outcome | undefined;
  /** The event built from a notification and its response; undefined if the response is for another object. */
  readEvent(answer: JsonObject): ProviderEvent | undefined;
};

/** The base URL, without a trailing slash, and the token. */
export type FetchAccess = { readonly url: string; readonly token: string };
