import { migrate } from '../../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../../shared/testing/servers.ts';
import { createResolverRig } from './resolver-rig.ts';
import type { ResolverRig } from './resolver-rig.ts';

/** Ids of a web source, whose key is public, and of a server source. */
export const web = 'source-web';
export const server = 'source-server';
export const sources = [
  { id: web, type: 'WebSource', status: 'Enabled' },
  { id: server, type: 'NodejsApi', status: 'Enabled' },
];

/** Opens a resolver rig on its own servers; `close` stops them. */
export async function openIdentityRig(): Promise<{ readonly rig: ResolverRig; close(): Promise<void> }> {
  const [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  const rig = await createResolverRig(nats.url, database.url);
  return {
    rig,
    async close() {
      await rig.close();
      await nats.stop();
      await database.drop();
    },
  };
}
