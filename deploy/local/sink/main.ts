import { listen } from '../../../shared/runtime/status/serve-status.ts';
import { runService } from '../../../shared/runtime/run-service.ts';
import { readSinkEnv } from './env.ts';
import { createSink } from './server.ts';

const mebibyte = 1024 ** 2;

await runService(
  'sink',
  () => readSinkEnv(),
  async (env, logger, scope) => {
    const server = createSink({
      // The newest requests are kept, up to these limits.
      requestsMax: 200_000,
      bytesMax: 256 * mebibyte,
      bodyBytesMax: 16 * mebibyte,
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
