import type { NatsConnection } from 'nats';

/** Internals of the client library: a socket, and whether its end has been noticed. */
type Transport = { done: boolean; readonly socket?: { destroy(): void }; readonly signal: { resolve(): void } };
type ClientInternals = { readonly protocol: { readonly transport?: Transport; prepare(): unknown } };

/**
 * Ends a client's transport before the client makes another one, so that it never has two.
 *
 * The library (2.29) abandons an attempt to connect that lasts too long, but leaves its socket open. If the server
 * greets it later, for example after a cut of the network, and then closes it, the library takes that for the loss of
 * the connection that it has by now, and opens a second one beside it. It parses the bytes of both as one stream, which
 * puts whole messages inside others.
 */
export function keepOneTransport(nc: NatsConnection): void {
  const { protocol } = nc as unknown as ClientInternals;
  const prepare = protocol.prepare.bind(protocol);
  protocol.prepare = () => {
    if (protocol.transport !== undefined) end(protocol.transport);
    return prepare();
  };
}

/**
 * Ends a stale connection at once. The library first flushes it, which never ends if the server takes no more bytes, as
 * after a power cut: the connection would stay until the kernel gives it up, after some 15 minutes.
 */
export function endStale(nc: NatsConnection): void {
  (nc as unknown as ClientInternals).protocol.transport?.socket?.destroy();
}

/** Ends a transport without a report to its client. */
function end(transport: Transport): void {
  transport.done = true;
  transport.socket?.destroy();
  transport.signal.resolve();
}
