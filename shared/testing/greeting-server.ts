import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Sends clients the greeting of a nats-server of the given version, and answers only their PINGs. */
export type GreetingServer = {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Greets clients with another version from now on, and ends all connections. */
  replaceBy(version: string): void;
  close(): Promise<void>;
};

/** Starts a server for tests of versions that cannot be installed. It announces `others` to clients, as `host:port`. */
export async function startGreetingServer(
  version: string,
  { others = [] }: { readonly others?: readonly string[] } = {},
): Promise<GreetingServer> {
  let connections = 0;
  let greeted = version;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      // A client counts as connected once its first PING was answered.
      if (bytes.includes('PING')) socket.write('PONG\r\n');
    });
    const info = {
      server_id: 'greeting',
      server_name: 'greeting',
      version: greeted,
      max_payload: 1_048_576,
      headers: true,
      connect_urls: others,
    };
    socket.write(`INFO ${JSON.stringify({ ...info, jetstream: true, proto: 1 })}\r\n`);
  });
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    get connections() {
      return connections;
    },
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replaceBy(next) {
      greeted = next;
      disconnect();
    },
    async close() {
      server.close();
      disconnect();
      await once(server, 'close');
    },
  };
}
