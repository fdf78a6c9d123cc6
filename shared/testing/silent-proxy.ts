import { connect as dial, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy between clients and a server, which can fall silent: connections then stay open but carry no data. */
export type SilentProxy = {
  /** The server's address through the proxy. */
  readonly url: string;
  /** From now on, open connections carry no data, and new connections are refused. */
  fallSilent(): void;
  close(): Promise<void>;
};

export async function openSilentProxy(serverUrl: string): Promise<SilentProxy> {
  const server = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((from) => {
    const to = dial({ host: server.hostname, port: Number(server.port) });
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  const closeServer = (): Promise<void> => new Promise((resolve) => void proxy.close(() => resolve()));
  let closed: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    fallSilent() {
      closed = closeServer();
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    async close() {
      closed ??= closeServer();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
