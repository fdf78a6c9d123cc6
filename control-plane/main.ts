import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import { runService } from '../shared/runtime/run-service.ts';
import { readControlPlaneHttpSettings } from './api/http-settings.ts';
import { readControlPlaneEnv } from './env.ts';
import { startControlPlane } from './start-control-plane.ts';

await runService(
  'control-plane',
  () => readControlPlaneEnv(),
  async (env, logger, scope) => {
    const controlPlane = await startControlPlane(env, logger, scope);
    const { metricsHost: host, metricsPort: port } = readControlPlaneHttpSettings(env);
    const statusServer = await serveStatus({
      port,
      host,
      portVariable: 'CONTROL_PLANE_METRICS_PORT',
      page: controlPlane.page,
      checks: [
        ...controlPlane.checks,
        { name: 'running', check: () => (scope.ending ? { ok: false, detail: 'stopping' } : { ok: true }) },
      ],
    });
    scope.use('status server', statusServer, (server) => server.close());
    logger.info({ port: controlPlane.port, metricsPort: statusServer.port }, 'control plane ready');
  },
);
