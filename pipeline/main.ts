import { runService } from '../shared/runtime/run-service.ts';
import { readPipelineEnv } from './env.ts';
import { startPipeline } from './start-pipeline.ts';

await runService(
  'pipeline',
  () => readPipelineEnv(),
  async (env, logger, scope) => {
    await startPipeline(env, logger, scope);
  },
);
