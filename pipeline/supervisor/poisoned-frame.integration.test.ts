import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { ingestDeadLetterHeaders } from '../../shared/contracts/events/dead-letter.ts';
import { decodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import { ingestDeadLetterSubject, eventsSubject, ingestSubject } from '../../shared/contracts/subjects.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { readNext } from '../../shared/nats/messages/subject-log.ts';
import { publishWithRetry } from '../../shared/nats/publish/publisher.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';
import { until } from '../../shared/testing/until.ts';
import { quarantineReason } from '../workers/worker/suspicion.ts';
import { frameOf } from '../workers/resolve/testing/resolver-rig.ts';
import { createPool } from './pool.ts';
import { createStatsLedger } from './stats-ledger.ts';
import { Supervisor } from './supervisor.ts';
import { hostSettingsForTests } from './testing/host-settings.ts';
import { poison } from './testing/poisoned-host.ts';

test('poisoned frame: a frame that kills its thread is quarantined after the second death, and its partition continues', async () => {
  const nats = await startTestNats();
  onTestFinished(() => nats.stop());
  const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'poisoned-frame-test' });
  onTestFinished(() => connection.close());
  await makeTestLog(nats, testTopology({ partitions: 1, streamBytesMax: 64 * 1024 ** 2 }));
  const account = randomUUID();
  const send = (id: string, userId: string): Promise<unknown> =>
    publishWithRetry(
      connection,
      { subject: ingestSubject(0), payload: frameOf(account, [{ id, body: { event: 'Order', userId } }]), msgId: id },
      {},
    );
  for (const [id, visitor] of Object.entries({
    before: 'a',
    deadly: poison,
    between: 'b',
    deadlier: poison,
    after: 'c',
  }))
    await send(id, visitor);

  const pool = createPool({ threads: 1, heapMaxMib: 64, host: new URL('./testing/poisoned-host.ts', import.meta.url) });
  pool.on('error', () => undefined);
  const errors: { msg: string; seq?: number }[] = [];
  const supervisor = new Supervisor({
    stopDeadlineMs: 5_000,
    silenceMaxMs: 30_000,
    pool,
    threads: 1,
    settings: { ...hostSettingsForTests, log: { url: asLogUser(nats.url, 'pipeline') } },
    stats: createStatsLedger(),
    logger: pino(
      { level: 'error' },
      { write: (line: string) => void errors.push(JSON.parse(line) as { msg: string }) },
    ),
  });
  onTestFinished(async () => {
    await supervisor.stop(1_000);
    await pool.destroy();
  });
  supervisor.start();
  void supervisor.run({ kind: 'resolver', partition: 0 });

  const resolved = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let seq = 1; ;) {
      const found = await readNext(connection, streams.events, eventsSubject(account, 0), seq);
      if (found === undefined) return ids;
      ids.push(...decodeResolved(found.data).map(({ event }) => event.id));
      seq = found.seq + 1;
    }
  };
  // Each event is awaited on its own: a poisoned frame takes two threads down, and a busy machine is slow to start
  // another thread.
  for (const id of ['before', 'between', 'after'])
    await until(`the partition has come to ${id}`, async () => (await resolved()).includes(id));
  expect(await resolved()).toEqual(['before', 'between', 'after']);
  const letter = await readNext(connection, streams.ingestDeadLetters, ingestDeadLetterSubject(0), 1);
  expect(Buffer.from(letter?.data ?? []).toString()).toContain('"id":"deadly"');
  expect(letter?.header(ingestDeadLetterHeaders.reason)).toBe(quarantineReason);
  expect(errors.flatMap(({ seq }) => seq ?? [])).toEqual([2, 4]);
});
