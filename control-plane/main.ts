import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import { runService } from '../shared/runtime/run-service.ts';
import { readControlPlaneEnv } from './env.ts';
import { startControlPlane } from './start-control-plane.ts';

await runService(
  'control-plane',
  () => readControlPlaneEnv(),
  async (env, logger, shutdown) => {
    const controlPlane = await startControlPlane(env, logger, shutdown);
    const statusServer = await serveStatus({
      port: env.CONTROL_PLANE_METRICS_PORT,
      host: env.METRICS_HOST,
      portVariable: 'CONTROL_PLANE_METRICS_PORT',
      page: controlPlane.page,
      checks: [
        ...controlPlane.checks,
        { name: 'running', check: () => (shutdown.stopping ? { ok: false, detail: 'stopping' } : { ok: true }) },
      ],
    });
    shutdown.add('status server', () => statusServer.close());
    logger.info({ port: controlPlane.port, metricsPort: statusServer.port }, 'control plane ready');
  },
);
