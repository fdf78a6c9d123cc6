import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../shared/embedded/machine/free-port.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createNatsFolder, createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import { createSettableClock } from '../shared/testing/settable-clock.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig } from './testing/open-rig.ts';
import { runAsProcess } from './testing/run-as-process.ts';
import { until } from '../shared/testing/until.ts';

test('clock: after its wall clock is set back an hour, a pipeline reconnects to a restarted log, and retries', async () => {
  const clock = createSettableClock();
  onTestFinished(() => clock.remove());
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  await migrate(database.url);
  const storeDir = await createNatsFolder();
  const nats = await startTestNats({ storeDir });
  onTestFinished(() => nats.stop());
  const metricsPort = String(await findFreePort());
  const { rig, sink } = await openRig(nats.url, database.url, {
    ...clock.variables,
    PIPELINE_METRICS_PORT: metricsPort,
  });
  const account = randomUUID();
  const destination = httpEntity(randomUUID(), sink.url);
  await rig.configure(account, { destinations: [destination] });
  let status = 503;
  sink.answer(() => status);
  runAsProcess(rig);
  await rig.accept(account, [{ id: 'waits' }]);
  await until('it is being tried again', () => sink.requests.length > 0);
  clock.set(-3_600_000);
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  await until('the jump is noticed', async () => (await metrics()).includes('sluice_clock_jumps_total 1'));
  await nats.kill();
  const again = await startTestNats({ storeDir, port: nats.port });
  onTestFinished(() => again.stop());
  status = 200;
  await rig.accept(account, [{ id: 'comes' }]);
  await until('both have arrived', () => new Set(sink.taken()).size === 2);
  expect(new Set(sink.taken())).toEqual(new Set(['waits', 'comes']));
  const revision = await rig.configure(account, { destinations: [destination] });
  await until('the lease is kept', async () => (await rig.reported()) === revision);
});
