/**
 * PostHog's names for properties of an event's context, and ours. With this table the gateway translates PostHog's
 * names, and the PostHog destination translates them back, so no property is lost.
 */
const names = [
  ['$current_url', 'current_url'],
  ['$host', 'host'],
  ['$pathname', 'pathname'],
  ['$referrer', 'referrer'],
  ['$browser', 'browser_name'],
  ['$browser_version', 'browser_version'],
  ['$os', 'os_name'],
  ['$os_version', 'os_version'],
  ['$device_type', 'device_type'],
  ['$device_model', 'device_model'],
  ['$device_manufacturer', 'device_manufacturer'],
  ['$screen_width', 'screen_width'],
  ['$screen_height', 'screen_height'],
  ['$session_id', 'sid'],
  ['$timezone', 'timezone'],
  ['$app_name', 'app_name'],
  ['$app_version', 'app_version'],
  ['$lib', 'library_name'],
  ['$lib_version', 'library_version'],
] as const;

/** Our names by PostHog's names. */
export const fromPosthog: ReadonlyMap<string, string> = new Map(names);

/** PostHog's names by our names. */
export const toPosthog: ReadonlyMap<string, string> = new Map(names.map(([posthog, own]) => [own, posthog]));
