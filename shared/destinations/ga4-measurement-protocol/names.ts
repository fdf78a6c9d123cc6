const nameCharactersMax = 40;

// Reserved event names: https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference
const reservedNames: ReadonlySet<string> = new Set([
  'ad_activeview',
  'ad_click',
  'ad_exposure',
  'ad_query',
  'ad_reward',
  'adunit_exposure',
  'app_clear_data',
  'app_exception',
  'app_install',
  'app_remove',
  'app_store_refund',
  'app_store_subscription_cancel',
  'app_store_subscription_convert',
  'app_store_subscription_renew',
  'app_update',
  'app_upgrade',
  'dynamic_link_app_open',
  'dynamic_link_app_update',
  'dynamic_link_first_open',
  'error',
  'first_open',
  'first_visit',
  'in_app_purchase',
  'notification_dismiss',
  'notification_foreground',
  'notification_open',
  'notification_receive',
  'notification_send',
  'os_update',
  'session_start',
  'session_start_with_rollout',
  'user_engagement',
]);
const reservedPrefix = /^(firebase_|ga_|google_|gtag\.|query_id)/i;

/**
 * An event's name in Google Analytics' form: letters, digits and underscores, a letter first, at most 40 characters.
 * `$experiment_impression` becomes `experiment_impression`; a reserved name gets the prefix `event_`. Undefined if no
 * character is left.
 */
export function ga4Name(name: string): string | undefined {
  const plain = plainName(name);
  if (plain === undefined) return undefined;
  const isReserved = reservedNames.has(plain) || reservedPrefix.test(plain);
  return cut(isReserved ? `event_${plain}` : plain);
}

/** The name of a parameter or user property in the form of ga4Name; a reserved prefix gets `p_` in front. */
export function ga4ParameterName(name: string, charactersMax = nameCharactersMax): string | undefined {
  const plain = plainName(name);
  if (plain === undefined) return undefined;
  return cut(reservedPrefix.test(plain) ? `p_${plain}` : plain, charactersMax);
}

function plainName(name: string): string | undefined {
  // No valid name has more than 500 characters; without this limit a name of a million characters would be expensive.
  const plain = name
    .slice(0, 500)
    .toWellFormed()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^[_\p{N}]+|_+$/gu, '');
  return plain === '' ? undefined : plain;
}

function cut(name: string, charactersMax = nameCharactersMax): string {
  return Array.from(name).slice(0, charactersMax).join('');
}
