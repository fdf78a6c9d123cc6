import { expect, onTestFinished, test } from 'vitest';
import { createNatsFolder, startTestNats } from '../shared/testing/servers.ts';
import { createSettableClock } from '../shared/testing/settable-clock.ts';
import { startGatewayProcess } from './testing/gateway-process.ts';
import { until } from '../shared/testing/until.ts';
import { openTestLog } from './testing/test-log.ts';
import { allTestSources, testSources } from './testing/test-sources.ts';

test('clock: after its clock was set back by an hour, a gateway still reconnects to a log that was restarted', async () => {
  const clock = createSettableClock();
  onTestFinished(() => clock.remove());
  const storeDir = await createNatsFolder();
  const nats = await startTestNats({ storeDir });
  const log = await openTestLog(nats.url);
  onTestFinished(() => log.close());
  await log.publishSources(allTestSources);
  const gateway = await startGatewayProcess(nats.url, clock.variables);
  onTestFinished(() => gateway.stop());
  const track = async (id: string): Promise<number> => {
    const body = JSON.stringify({ token: testSources.server.token, event: 'Counted', distinctId: id });
    return (await fetch(`${gateway.url}/api/v1/track`, { method: 'POST', body })).status;
  };
  expect(await track('before')).toBe(200);
  clock.set(-3_600_000);
  await until('the jump is noticed', async () => (await gateway.metrics()).includes('sluice_clock_jumps_total 1'));
  expect(await gateway.metrics()).toMatch(/^sluice_clock_last_jump_seconds -(3599|3600)/m);
  await nats.kill();
  const again = await startTestNats({ storeDir, port: nats.port });
  onTestFinished(() => again.stop());
  await until('tracks are taken', async () => (await track('after')) === 200, 15_000);
  await until('the gateway is ready', async () => (await gateway.readiness()).status === 200, 15_000);
  // A request made before the test's own connection is back would never be answered.
  await until('we are connected as well', () => log.connection.connected);
  expect((await log.envelopes()).map(({ id }) => id)).toContain('after');
});
