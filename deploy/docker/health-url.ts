import type { HealthcheckEnv } from './env.ts';

const portVariables = {
  gateway: 'GATEWAY_METRICS_PORT',
  'control-plane': 'CONTROL_PLANE_METRICS_PORT',
  pipeline: 'PIPELINE_METRICS_PORT',
  sink: 'SINK_PORT',
} as const;

const service = /\/(gateway|control-plane|pipeline|sink)\/main\.js\0|\/sluice\0(gateway|control-plane|pipeline|sink)\0/;

/**
 * URL of the health page of the container's service. The command line of the first process in /proc names the service
 * (arguments end with NUL); that process may be an init that starts `sluice`. Undefined for a command without a health
 * page, such as the migration.
 */
export function healthUrl(commandLine: string, page: string, env: HealthcheckEnv): string | undefined {
  const found = service.exec(commandLine);
  const name = (found?.[1] ?? found?.[2]) as keyof typeof portVariables | undefined;
  return name === undefined ? undefined : `http://127.0.0.1:${env[portVariables[name]]}/${page}`;
}
