import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { envelopeHead, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { countResults } from '../../../shared/visitors/count-results.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import { ingestSubject, resultsConsumer } from '../../../shared/contracts/subjects.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { openRig, startOn } from '../../testing/open-rig.ts';
import { until } from '../../../shared/testing/until.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

const experiments = (status: string) => ({
  experiments: [{ id: 'e', key: 'button', name: 'Button', status, primaryMetric: { event: 'Order' } }],
  experimentVariants: [
    { id: 'a', experimentId: 'e', name: 'A', isControl: true },
    { id: 'b', experimentId: 'e', name: 'B', weight: 50 },
  ],
});

test('results: events of an account are counted while an experiment runs, even if accepted before the pipeline started', async () => {
  const { rig } = await openRig(nats.url, database.url);
  const [account, idle] = [randomUUID(), randomUUID()];
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const accept = (id: string, event: string, eventProperties: object): Promise<unknown> => {
    const head = envelopeHead(envelopePrefix({ account, source: 'source-1', test: false }), {
      kind: 'track',
      id,
      at: Date.now(),
    });
    const frame = new FrameWriter();
    frame.appendEnvelope(head, Buffer.from(JSON.stringify({ event, userId: 'visitor', eventProperties })));
    const message = { subject: ingestSubject(0), payload: frame.bytes(), msgId: randomUUID() };
    return publishWithRetry(rig.connection, message, { signal: AbortSignal.timeout(60_000) });
  };
  await rig.configure(account, experiments('Running'));
  await rig.configure(idle, experiments('Completed'));
  await accept('shown', impressionEvent, { experiment_id: 'e', variant_id: 'b' });
  // The same exposure as a PostHog library sends it, and flags that are no exposure.
  const flag = (id: string, key: string, value: unknown): Promise<unknown> =>
    accept(id, '$feature_flag_called', { $feature_flag: key, $feature_flag_response: value });
  await flag('flag', 'button', 'B');
  await flag('not in it', 'button', false);
  await flag('unknown', 'other', 'B');
  await startOn(rig);
  await accept('bought', 'Order', {});
  const counted = [{ variantId: 'b', visitors: 1, conversions: 1 }];
  await until('it is counted', async () => {
    const found = await countResults(pool, account, 'e', 'Order');
    return JSON.stringify(found) === JSON.stringify(counted);
  });
  await pool.end();
  expect(await rig.consumers()).not.toContain(resultsConsumer(idle));
  await rig.configure(account, experiments('Completed'));
  await until('its consumer is gone', async () => !(await rig.consumers()).includes(resultsConsumer(account)));
});
