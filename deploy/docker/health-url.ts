import type { HealthcheckEnv } from './env.ts';

const portVariables = {
  gateway: 'GATEWAY_METRICS_PORT',
  'control-plane': 'CONTROL_PLANE_METRICS_PORT',
  pipeline: 'PIPELINE_METRICS_PORT',
  sink: 'SINK_PORT',
} as const;

const service = /\/(gateway|control-plane|pipeline|sink)\/main\.js\0|\/sluice\0(gateway|control-plane|pipeline|sink)\0/;

/**
 * The health page of the service in the container's first process, from its command line in /proc (arguments end with
 * NUL); an init in front of it has `sluice` in its command line. Undefined for a command without a health page, such
 * as the migration.
 */
export function healthUrl(commandLine: string, page: string, env: HealthcheckEnv): string | undefined {
  const found = service.exec(commandLine);
  const name = (found?.[1] ?? found?.[2]) as keyof typeof portVariables | undefined;
  return name === undefined ? undefined : `http://127.0.0.1:${env[portVariables[name]]}/${page}`;
}
