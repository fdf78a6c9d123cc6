import type { Services } from '../api/services.ts';
import { readPublishingSettings } from '../publishing/publishing-settings.ts';
import { backlogAgeMs, guardsBacklogs } from './backlogs-left.ts';

/** Provides the settings of the guard that refuses a publish which would leave events unsent. */
export function provideBacklogGuard(env: Parameters<typeof readPublishingSettings>[0], services: Services): void {
  const settings = readPublishingSettings(env);
  services.provide(guardsBacklogs, settings.guardsBacklogs);
  services.provide(backlogAgeMs, settings.backlogAgeMs);
}
