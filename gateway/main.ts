import { readGatewayEnv } from './env.ts';
import { runService } from '../shared/runtime/run-service.ts';
import { startGateway } from './start-gateway.ts';

await runService(
  'gateway',
  () => readGatewayEnv(),
  async (env, logger, scope) => {
    await startGateway(env, logger, scope);
  },
);
