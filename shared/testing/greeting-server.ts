import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Says what nats-server says to a client that connects, in the version it was given, and nothing else. */
export type GreetingServer = {
  readonly url: string;
  /** The version of the greetings from now on; clients that are connected lose their connection. */
  replaceBy(version: string): void;
  close(): Promise<void>;
};

/** Starts one on a free port of loopback: for tests of versions that cannot be had. */
export async function startGreetingServer(version: string): Promise<GreetingServer> {
  let greeted = version;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      // A client is connected once its first PING was answered.
      if (bytes.includes('PING')) socket.write('PONG\r\n');
    });
    const info = {
      server_id: 'greeting',
      server_name: 'greeting',
      version: greeted,
      max_payload: 1_048_576,
      headers: true,
    };
    socket.write(`INFO ${JSON.stringify({ ...info, jetstream: true, proto: 1 })}\r\n`);
  });
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
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
