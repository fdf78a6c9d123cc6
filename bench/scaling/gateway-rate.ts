import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/publish-accounts.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { ScenarioContext } from '../system/scenario.ts';
import { startGateway } from '../system/services.ts';

const loadProcesses = 2;
const connectionsEach = 128;

/** Tracks a second that gateways on one port take together. */
export function gatewayRate(context: ScenarioContext, gateways: number): Promise<number> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${gateways} gateway${gateways === 1 ? '' : 's'}`, seconds + warmUpSeconds + gateways);
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const log = await stage.startLog();
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }]);
    const env = { GATEWAY_REUSE_PORT: 'true' };
    const first = await startGateway(stage, log.url, { env });
    for (let count = 1; count < gateways; count += 1) await startGateway(stage, log.url, { env, port: first.port });
    const order = {
      url: `${first.url}/api/v1/track`,
      bodies: [trackBody(token)],
      connections: connectionsEach,
      warmUpMs: warmUpSeconds * 1000,
      measureMs: seconds * 1000,
    };
    const loads = await Promise.all(Array.from({ length: loadProcesses }, () => runLoad(stage, order)));
    for (const load of loads) assertAllAccepted(`${gateways} gateways`, load);
    return loads.reduce((sum, { answersPerS }) => sum + answersPerS, 0);
  });
}
