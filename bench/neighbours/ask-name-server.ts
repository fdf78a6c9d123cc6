import type * as Dns from 'node:dns';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { nameServer } from '../machine/env.ts';

// Loaded before a service's own code, in every thread of the service: its resolvers ask the bench's name server, over
// the network as usual.

const server = nameServer();

if (server !== undefined) askOnly(server);

function askOnly(address: string): void {
  const dns = createRequire(import.meta.url)('node:dns') as typeof Dns;
  const { Resolver } = dns.promises;
  dns.promises.Resolver = class extends Resolver {
    constructor(...options: ConstructorParameters<typeof Resolver>) {
      super(...options);
      this.setServers([address]);
    }
  };
  syncBuiltinESMExports();
}
