import { defineEnv } from '../../../shared/runtime/env.ts';
import { serviceEnv } from '../../../shared/runtime/service-settings.ts';
import { optionalText, port, text } from '../../../shared/runtime/variables.ts';

/** Environment variables that the demo sink reads, with their defaults. */
export const { variables: sinkEnv, read: readSinkEnv } = defineEnv({
  SINK_PORT: port('The demo sink', 8090),
  SINK_HOST: text('Address the demo sink listens on', { default: '127.0.0.1' }),
  SINK_CREDENTIALS_FILE: optionalText(
    '`credentials.json` of the local stack: where the demo site sends to, and with which key',
  ),
  LOG_LEVEL: serviceEnv.LOG_LEVEL,
  SHUTDOWN_DEADLINE_MS: serviceEnv.SHUTDOWN_DEADLINE_MS,
});
