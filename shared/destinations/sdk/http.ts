import { UnfitEventError } from './destination.ts';
import type { OutboundEvent, OutboundRequest } from './destination.ts';
import { idempotencyKey, traceparentOf } from './event-ids.ts';
import { outboundHead } from './event.ts';

type PostOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The events in the body, which determine the idempotency key and the trace. */
  readonly events: readonly OutboundEvent[];
};

/** A POST with a JSON body. */
export function postJson({ url, headers, body, events }: PostOptions): OutboundRequest {
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      ...deliveryHeaders(events),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** A POST with a form body, for platforms without JSON. Undefined members are left out. */
export function postForm({ url, headers, body, events }: PostOptions & { body: FormMembers }): OutboundRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...deliveryHeaders(events), ...headers },
    body: formOf(body),
  };
}

/** A GET whose query carries the whole payload, for pixels and postbacks. */
export function getWith({ url, headers, query, events }: GetOptions): OutboundRequest {
  const parameters = formOf(query);
  const address = parameters === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
  if (address.length > urlCharactersMax) throw new UnfitEventError('the event is too large for a URL');
  return { method: 'GET', url: address, headers: { ...deliveryHeaders(events), ...headers }, body: undefined };
}

type FormMembers = Readonly<Record<string, string | number | undefined>>;

type GetOptions = Omit<PostOptions, 'body'> & { readonly query: FormMembers };

/** The URL length that servers and proxies accept in practice. */
const urlCharactersMax = 8_192;

function formOf(members: FormMembers): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== '') form.set(name, String(value).toWellFormed());
  }
  return form.toString();
}

/** Headers of every delivery: user agent, idempotency key and trace. */
export function deliveryHeaders(events: readonly OutboundEvent[]): Readonly<Record<string, string>> {
  return { 'user-agent': 'Sluice/1', ...identifyingHeaders(events) };
}

/** Idempotency key and trace. */
export function identifyingHeaders(events: readonly OutboundEvent[]): Readonly<Record<string, string>> {
  const heads = events.map(outboundHead);
  const ids = heads.map(({ id }) => id);
  return { 'idempotency-key': idempotencyKey(ids), traceparent: traceparentOf(ids, heads[0]?.trace) };
}

/** Several requests for the same events; each is sent after the previous one was accepted. */
export function chainOf(requests: readonly OutboundRequest[]): OutboundRequest {
  const [last, ...before] = requests.toReversed();
  if (last === undefined) throw new UnfitEventError('no request to send');
  return before.reduce((next, request) => ({ ...request, next }), last);
}

/**
 * Returns the request if it is within the platform's size limit. Otherwise throws UnfitEventError:
 * a batch is then halved before anything is sent, and a single event is refused.
 */
export function withinBytes(request: OutboundRequest, bodyBytesMax: number): OutboundRequest {
  if (Buffer.byteLength(request.body ?? '', 'utf8') > bodyBytesMax) throw new UnfitEventError('the event is too large');
  return request;
}
