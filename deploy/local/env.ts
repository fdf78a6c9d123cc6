import { Type } from 'typebox';
import { besideStack, stackFolderEnv } from '../../shared/command-line/local-stack.ts';
import { controlPlaneHttpEnv } from '../../control-plane/api/http-settings.ts';
import { gatewayHttpEnv } from '../../gateway/http/http-settings.ts';
import { gatewayStatusEnv } from '../../gateway/status/status-settings.ts';
import { pipelineStatusEnv } from '../../pipeline/status/status-settings.ts';
import { topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { defineEnv } from '../../shared/runtime/env.ts';
import { logCoresRule, logMemoryRule } from '../../shared/runtime/fit-to-machine.ts';
import { serviceEnv } from '../../shared/runtime/service-settings.ts';
import { fittedCount, optionalSecret, optionalText, port } from '../../shared/runtime/variables.ts';
import { sinkEnv } from './sink/env.ts';

const { LOG_REPLICAS: _replicas, ...streamsEnv } = topologyEnv;

/** Environment variables that the local stack's launcher reads, with their defaults. */
export const { variables: stackEnv, read: readStackEnv } = defineEnv({
  ...stackFolderEnv,
  GATEWAY_PORT: gatewayHttpEnv.GATEWAY_PORT,
  GATEWAY_METRICS_PORT: gatewayStatusEnv.GATEWAY_METRICS_PORT,
  CONTROL_PLANE_PORT: controlPlaneHttpEnv.CONTROL_PLANE_PORT,
  CONTROL_PLANE_METRICS_PORT: controlPlaneHttpEnv.CONTROL_PLANE_METRICS_PORT,
  PIPELINE_METRICS_PORT: pipelineStatusEnv.PIPELINE_METRICS_PORT,
  SINK_PORT: sinkEnv.SINK_PORT,
  NATS_PORT: port('The embedded nats-server; the next free port when busy', 4222),
  NATS_MONITOR_PORT: port('Monitor port of the embedded nats-server; the next free port when busy', 8222),
  POSTGRES_PORT: port('The embedded PostgreSQL; the next free port when busy', 5432),
  NATS_STORE_BYTES_MAX: Type.Optional(
    Type.Integer({
      minimum: 1024 ** 2,
      unit: 'bytes',
      description: 'Size of all streams of the embedded nats-server together; three quarters of the disk by default',
    }),
  ),
  GOMEMLIMIT: optionalText(
    `Memory the embedded nats-server tries to stay below, as \`512MiB\`, or \`off\`; no hard limit. By default ${logMemoryRule}`,
    { pattern: '^(off|[0-9]+(B|[KMGT]iB)?)$' },
  ),
  GOMAXPROCS: fittedCount('Cores the embedded nats-server uses at a time', logCoresRule, { maximum: 1_024 }),
  NATS_URL: optionalText('Your own nats-server (2.15.1 or newer, with JetStream) instead of the embedded one'),
  DATABASE_URL: optionalSecret('Your own PostgreSQL (14 or newer) instead of the embedded one'),
  LOG_LEVEL: serviceEnv.LOG_LEVEL,
  ...streamsEnv,
});

export type StackEnv = ReturnType<typeof readStackEnv>;

/**
 * The environment that services inherit from the caller. Variables that the stack sets itself override it.
 */
export function inheritedEnv(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/**
 * The environment of a command: the shell's variables and, for those that the shell does not set, the local stack's.
 */
export function commandEnv(): Readonly<Record<string, string | undefined>> {
  return besideStack(process.env);
}
