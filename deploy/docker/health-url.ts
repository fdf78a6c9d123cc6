import type { HealthcheckEnv } from './env.ts';

const portVariables = {
  gateway: 'GATEWAY_METRICS_PORT',
  'control-plane': 'CONTROL_PLANE_METRICS_PORT',
  pipeline: 'PIPELINE_METRICS_PORT',
  sink: 'SINK_PORT',
} as const;

const service = /\/(gateway|control-plane|pipeline|sink)\/main\.js\0|\/sluice\0(gateway|control-plane|pipeline|sink)\0/;

/**
 * The health page of the service that the container's first process is, by its command line as /proc shows it: an
 * argument each, closed by a NUL; an init in front of it has the command line of `sluice` in its own. Undefined where it is a command, such as the migration, which has none.
 */
export function healthUrl(commandLine: string, page: string, env: HealthcheckEnv): string | undefined {
  const found = service.exec(commandLine);
  const name = (found?.[1] ?? found?.[2]) as keyof typeof portVariables | undefined;
  return name === undefined ? undefined : `http://127.0.0.1:${env[portVariables[name]]}/${page}`;
}
