import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { ProviderEvent } from './provider-event.ts';

/**
 * How the object of a notice is fetched: some providers send an id only, and return the rest to a request with a token of
 * the source's owner. Functions are pure; the dispatcher sends the request, retries it, and stores the event.
 */
export type NoticeFetch = {
  /** The provider's name for the token. */
  readonly tokenName: string;
  /** The provider's address, where nothing else is set. */
  readonly url: string;
  /** The request for the object that the properties of an event point to; undefined for events without one. */
  request(notice: JsonObject, access: FetchAccess): Pick<OutboundRequest, 'method' | 'url' | 'headers'> | undefined;
  /** The meaning of an answer without it; undefined where the status decides. */
  readFailure(answer: OutboundAnswer): Outcome | undefined;
  /** The event that an answer makes of a notice; undefined where the answer is of something else. */
  readEvent(answer: JsonObject): ProviderEvent | undefined;
};

/** The base URL, without a slash at the end, and the token. */
export type FetchAccess = { readonly url: string; readonly token: string };
