import type { SettingDescriptor } from '../api/types.ts';

/** Labels of fields that have another name in forms than in the API. */
const formWords: Readonly<Record<string, string>> = {
  isEnabled: 'Enabled',
  isRequired: 'Required',
  limitedToSourceIds: 'Sources',
  whitelistDomains: 'Allowed domains',
  whitelistIps: 'Allowed IP addresses',
  botControlMode: 'Bots',
  logic: 'Conditions',
  categories: 'Rule',
  mappings: 'Property',
  map: 'Value',
  eventName: 'Event name',
  others: 'Properties that are not listed',
  defaultState: 'Without an answer',
};

const acronyms: Readonly<Record<string, string>> = { api: 'API', ip: 'IP', ips: 'IPs', url: 'URL' };

/**
 * The label of a changed field, as forms show it: the label of the kind's setting, or “Property total: value” for
 * `mappings[total].map`. Pure.
 */
export function fieldWords(path: string, setting?: SettingDescriptor): string {
  if (setting !== undefined) return setting.label;
  const parts = [...path.matchAll(/([^.[\]]+)(?:\[([^\]]*)\])?/g)].map(([, name = '', item]) => {
    const words = formWords[name] ?? spaced(name);
    return item === undefined ? words : `${words} ${item}`;
  });
  const shown = parts.length > 1 && path.startsWith('settings.') ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? part : lowered(part))).join(': ');
}

/** The setting that a changed field of a destination belongs to. Pure. */
export function settingOf(path: string, settings: readonly SettingDescriptor[]): SettingDescriptor | undefined {
  return settings.find(({ key }) => path === `settings.${key}`);
}

/** A changed value, as forms show it. Entities are shown by their names. Pure. */
export function valueWords(
  value: unknown,
  names: Readonly<Record<string, string>>,
  setting?: SettingDescriptor,
): string {
  if (value === '********') return 'a secret';
  if (value === null) return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (setting?.type === 'Select') {
    const chosen = setting.options.find((option) => option.value === value);
    if (chosen !== undefined) return chosen.label;
  }
  if (typeof value === 'string') return value === '' ? '(empty)' : (names[value] ?? value);
  if (isTextList(value)) return value.map((one) => names[one] ?? one).join(', ');
  return JSON.stringify(value);
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

/** `accessToken` → “Access token”; for references, the entity: `destinationIds` → “Destinations”. */
function spaced(name: string): string {
  const named = /^(.+)Id(s?)$/.exec(name);
  const words = (named !== null && references.has(named[1] ?? '') ? `${named[1]}${named[2]}` : name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[ _-]+/)
    .map((word) => acronyms[word.toLowerCase()] ?? word.toLowerCase());
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const references: ReadonlySet<string> = new Set(['destination', 'source', 'experiment']);

/** The text with a small initial, for use within a phrase; an acronym stays in capitals. */
const lowered = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
