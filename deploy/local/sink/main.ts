import { listen } from '../../../shared/runtime/status/serve-status.ts';
import { runService } from '../../../shared/runtime/run-service.ts';
import { readSinkEnv } from './env.ts';
import { createSink } from './server.ts';

await runService(
  'sink',
  () => readSinkEnv(),
  async (env, logger, scope) => {
    const server = createSink({
      requestsMax: env.SINK_REQUESTS_MAX,
      bytesMax: env.SINK_BYTES_MAX,
      bodyBytesMax: env.SINK_BODY_BYTES_MAX,
      credentialsFile: env.SINK_CREDENTIALS_FILE,
    });
    const port = await listen(server, env.SINK_PORT, env.SINK_HOST, 'SINK_PORT');
    scope.use('http', server, () => {
      server.close();
      server.closeAllConnections();
    });
    logger.info({ port }, 'sink listening');
  },
);
