import type { Services } from '../api/services.ts';
import { readPublishingSettings } from '../publishing/publishing-settings.ts';
import { backlogAgeMs, guardsBacklogs } from './backlogs-left.ts';

/** Provides the settings by which a publish that would leave events unsent is refused. */
export function provideBacklogGuard(env: Parameters<typeof readPublishingSettings>[0], services: Services): void {
  const settings = readPublishingSettings(env);
  services.provide(guardsBacklogs, settings.guardsBacklogs);
  services.provide(backlogAgeMs, settings.backlogAgeMs);
}
