import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats-server.ts';
import { migrate } from '../../shared/storage/migrate.ts';
import { createTestDatabase, startTestNats } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { createResolverRig } from './testing/resolver-rig.ts';

let nats: NatsServer;
let database: TestDatabase;
let rig: Awaited<ReturnType<typeof createResolverRig>>;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
beforeAll(async () => {
  rig = await createResolverRig(nats.url, database.url);
});
afterAll(async () => {
  await rig?.close();
  await nats?.stop();
  await database?.drop();
});

describe('resolver', () => {
  it('resolver: writes an event with its visitor to the log of its account', async () => {
    await rig.send(0, [
      {
        id: 'e1',
        ip: '198.51.100.7',
        ua: 'Agent/1',
        body: {
          event: 'Signup',
          userId: 'u1',
          email: ' Ann@Example.com ',
          properties: { plan: 'free' },
          custom_properties: { a: 1 },
        },
      },
    ]);
    const resolver = await rig.start(0);
    await vi.waitFor(() => expect(resolver.stats()['resolved']).toBe(1));
    await resolver.stop(5_000);
    const [event] = await rig.written();
    expect(event).toMatchObject({
      event: {
        id: 'e1',
        event: 'Signup',
        event_properties: { plan: 'free' },
        context: { ip: '198.51.100.7', user_agent: 'Agent/1' },
      },
      visitor: { id: 'u1', email: 'ann@example.com', custom_properties: { a: 1 } },
    });
  });
});
