import { findFreePort } from '../embedded/machine/free-port.ts';
import type { NatsServer } from '../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from './servers.ts';

/** A node of a cluster that can be killed, and started again with its port and stored data. */
export type TestNode = { readonly name: string; kill(): Promise<void>; start(): Promise<void> };

export type TestNodes = {
  /** Addresses of all nodes, comma separated. */
  readonly url: string;
  readonly nodes: readonly TestNode[];
  stop(): Promise<void>;
};

/** Starts three nodes of one cluster. */
export async function startTestNodes(): Promise<TestNodes> {
  const routes = await Promise.all([findFreePort(), findFreePort(), findFreePort()]);
  const started = await Promise.all(
    routes.map(async (port, index) => {
      const name = `node-${index + 1}`;
      const options = {
        storeDir: await createNatsFolder(),
        serverName: name,
        cluster: { name: 'test', port, routes, password: 'password-of-nodes' },
      };
      let server: NatsServer = await startTestNats(options);
      const node: TestNode = {
        name,
        kill: () => server.kill(),
        async start() {
          server = await startTestNats({ ...options, port: server.port });
        },
      };
      return { url: server.url, node, stop: () => server.stop() };
    }),
  );
  return {
    url: started.map(({ url }) => url).join(','),
    nodes: started.map(({ node }) => node),
    async stop() {
      await Promise.all(started.map(({ stop }) => stop()));
    },
  };
}
