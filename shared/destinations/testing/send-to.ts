import type { OutboundRequest } from '../../egress/outbound.ts';
import type { Sender } from '../../egress/sender.ts';
import type { OfferedDestination, OfferedKind } from '../common-settings.ts';

/** The kind with its example settings, sending to the HTTP address `url`. */
export function prepareToSendTo(
  { descriptor, exampleSettings, prepare }: OfferedKind,
  url: string,
): OfferedDestination {
  const has = (key: string): boolean => descriptor.settings.some((setting) => setting.key === key);
  const { host, hostname, port } = new URL(url);
  const elsewhere = {
    Kafka: { brokers: host },
    RedisStreams: { url: `redis://${host}` },
    SMTP: { host: hostname, port },
  }[descriptor.id];
  if (elsewhere !== undefined) return prepare({ ...exampleSettings, ...elsewhere });
  const place = ['baseUrl', 'url', 'httpDestinationUrl'].find(has);
  if (place === undefined) throw new Error(`${descriptor.id} has no setting for its address`);
  // The path and query of a postback address are kept.
  const example = exampleSettings[place];
  const [query = ''] = (place === 'url' && typeof example === 'string' ? /\?.*$/.exec(example) : null) ?? [];
  return prepare({
    ...exampleSettings,
    [place]: `${url}${query}`,
    ...(has('tokenUrl') ? { tokenUrl: `${url}/oauth/token` } : {}),
  });
}

/**
 * Sends requests of other protocols over HTTP to `/to` on the same host, where a scripted platform
 * answers them. The protocols themselves are tested in `shared/egress/protocols`.
 */
export function byHttp(sender: Sender): Sender {
  const translated = (request: OutboundRequest): OutboundRequest => {
    const { protocol, host } = new URL(request.url);
    if (protocol === 'http:' || protocol === 'https:') return request;
    const headers = { 'content-type': 'application/json', ...request.headers };
    return { ...request, url: `http://${host}/to`, headers };
  };
  return { send: (request, mayBegin) => sender.send(translated(request), mayBegin), close: () => sender.close() };
}
