import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, flag } from '../../shared/runtime/variables.ts';

const mebibyte = 1024 ** 2;

export const { variables: publishingEnv, read: readPublishingSettings } = defineSettings({
  guardsBacklogs: fromEnv({
    PUBLISH_GUARDS_BACKLOGS: flag(
      'Whether a version that removes or disables a destination for which events wait is refused with 409 unless `force` ' +
        'is sent. When off, the version is published and the answer lists the events that were left unsent',
      true,
    ),
  }),
  backlogAgeMs: fromEnv({
    PUBLISH_BACKLOG_AGE_MS: count(
      'How long the oldest event must have waited for PUBLISH_GUARDS_BACKLOGS to refuse a version; events that are ' +
        'retried always count. Some events are always on their way to a busy destination',
      5_000,
      { unit: 'ms', minimum: 0 },
    ),
  }),
  documentBytesMax: fromEnv({
    CONFIG_BYTES_MAX: count(
      "The largest configuration of one account that may be published; the log's own limit holds as well",
      8 * mebibyte,
      { unit: 'bytes', minimum: 1024 },
    ),
  }),
  pushBytesPerS: fromEnv({
    CONFIG_PUSH_BYTES_PER_S: count(
      'How much configuration of one account is written to the log per second; versions that are published faster are written together',
      4 * mebibyte,
      { unit: 'bytes' },
    ),
  }),
});
