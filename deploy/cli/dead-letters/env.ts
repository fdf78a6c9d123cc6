import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { logEnv, logEnvRules } from '../../../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../../../shared/nats/streams/topology-settings.ts';
import { readEnv } from '../../../shared/runtime/env.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';

const { LOG_REPLICAS } = topologyEnv;
const schema = Type.Object({ ...logEnv, ...stackFolderEnv, LOG_REPLICAS });

/** What the command has to know of the log. Throws EnvError with every problem. */
export function readDeadLettersEnv(source: Readonly<Record<string, string | undefined>>): Static<typeof schema> {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'), logEnvRules);
}
