import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { logEnv } from '../../../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../../../shared/nats/streams/topology-settings.ts';
import { defineEnv } from '../../../shared/runtime/env.ts';

const { LOG_REPLICAS } = topologyEnv;

/** The variables by which the command connects to the log. */
export const { read: readDeadLettersEnv } = defineEnv({ ...logEnv, ...stackFolderEnv, LOG_REPLICAS });
