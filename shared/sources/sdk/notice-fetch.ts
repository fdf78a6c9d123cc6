import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { ProviderEvent } from './provider-event.ts';

/**
 * How what a notice points to is fetched: some providers send an id only, and return the rest to a request with a
 * token of the source's owner. Functions are pure; the dispatcher sends the request, retries it, and stores the event.
 */
export type NoticeFetch = {
  /** What the provider calls the token. */
  readonly tokenName: string;
  /** The provider's address, where nothing else is set. */
  readonly url: string;
  /** The request for what the properties of an event point to; undefined where they are those of no notice. */
  request(notice: JsonObject, access: FetchAccess): Pick<OutboundRequest, 'method' | 'url' | 'headers'> | undefined;
  /** What an answer without it means; undefined where the status says it. */
  readFailure(answer: OutboundAnswer): Outcome | undefined;
  /** The event that an answer makes of a notice; undefined where the answer is of something else. */
  readEvent(answer: JsonObject): ProviderEvent | undefined;
};

/** Where is asked, without a slash at the end, and with which token. */
export type FetchAccess = { readonly url: string; readonly token: string };
