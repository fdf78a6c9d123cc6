import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { NatsConnection } from 'nats';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from '../../testing/servers.ts';
import { client } from './client.ts';
import { connectLog } from './connection.ts';

/** A way to the server that can be cut: connections made during a cut are accepted, and stay without an answer. */
type Way = {
  readonly url: string;
  /** Sockets of clients that are still open, in the order of their connection. */
  readonly open: readonly Socket[];
  /** Number of connections accepted so far. */
  readonly accepted: number;
  cut(): void;
  heal(): void;
  /** Reads nothing more from open connections, and keeps them open. */
  freeze(): void;
};

let server: NatsServer;
let relay: Server;
let way: Way;

beforeEach(async () => {
  server = await startTestNats({ storeDir: await createNatsFolder() });
  [relay, way] = await openWay(server.url);
});
afterEach(async () => {
  for (const socket of way.open) socket.destroy();
  relay.close();
  await server.stop();
});

async function openWay(to: string): Promise<[Server, Way]> {
  const url = new URL(to);
  const port = Number(url.port);
  const sockets: Socket[] = [];
  const held: Socket[] = [];
  let isCut = false;
  const forward = (near: Socket): void => {
    const far = connect({ port, host: '127.0.0.1' });
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  };
  const listener = createServer((near) => {
    sockets.push(near);
    near.on('error', () => undefined);
    if (isCut) held.push(near);
    else forward(near);
    // Read, so that the end of a held connection is noticed.
    if (isCut) near.resume();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  url.port = String((listener.address() as AddressInfo).port);
  return [
    listener,
    {
      url: url.href,
      get open() {
        return sockets.filter(({ destroyed }) => !destroyed);
      },
      get accepted() {
        return sockets.length;
      },
      freeze() {
        for (const socket of sockets) socket.unpipe().pause();
      },
      cut() {
        isCut = true;
        for (const socket of sockets) socket.destroy();
      },
      heal() {
        isCut = false;
        for (const socket of held.splice(0)) if (!socket.destroyed) forward(socket);
      },
    },
  ];
}

test('one transport: attempts to connect that were abandoned during a cut are closed, and one connection is left', async () => {
  const connection = await connectLog({ url: way.url, name: 'test' });
  try {
    way.cut();
    await expect.poll(() => way.accepted).toBeGreaterThan(2);
    // Only the newest attempt is open.
    await expect.poll(() => way.open.length).toBe(1);
    way.heal();
    await expect.poll(() => connection.connected).toBe(true);
    const [{ nc }, text] = [connection[client], 'x'.repeat(100_000)];
    nc.subscribe('echo', { callback: (_error, message) => message.respond(message.data) });
    const answers = await Promise.all(Array.from({ length: 20 }, () => nc.request('echo', text)));
    expect(answers.filter((answer) => answer.string() !== text)).toEqual([]);
    await expect.poll(() => way.open.length).toBe(1);
    expect(connection.reconnects).toBe(1);
  } finally {
    await connection.close();
  }
});

test('one transport: a connection that takes no more bytes is replaced once its pings are unanswered', async () => {
  const connection = await connectLog({ url: way.url, name: 'test' });
  try {
    const { nc } = connection[client];
    way.freeze();
    for (let n = 0; n < 32; n += 1) nc.publish('unread', new Uint8Array(1_000_000));
    stopWaitingForPings(nc);
    await expect.poll(() => connection.reconnects).toBe(1);
    await nc.flush();
  } finally {
    await connection.close();
  }
});

/** Does what the client does after its pings were not answered for 15 s. */
function stopWaitingForPings(nc: NatsConnection): void {
  (nc as unknown as { protocol: { heartbeats: { cancel(isStale: boolean): void } } }).protocol.heartbeats.cancel(true);
}
