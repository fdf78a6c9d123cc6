import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, flag } from '../../shared/runtime/variables.ts';

const mebibyte = 1024 ** 2;

export const { variables: publishingEnv, read: readPublishingSettings } = defineSettings({
  guardsBacklogs: fromEnv({
    PUBLISH_GUARDS_BACKLOGS: flag(
      'Whether a version that removes or disables a destination for which events wait is refused with 409 unless `force` ' +
        'is sent. When off, it is published and the answer lists the events that were left unsent',
      true,
    ),
  }),
  backlogAgeMs: fromEnv({
    PUBLISH_BACKLOG_AGE_MS: count(
      'How long the oldest event must have waited for that; anything that is retried counts as well. Of a destination ' +
        'that is sent to all the time, something is always on its way',
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
      'How much configuration of one account is written to the log a second; versions that are published faster are written together',
      4 * mebibyte,
      { unit: 'bytes' },
    ),
  }),
});
