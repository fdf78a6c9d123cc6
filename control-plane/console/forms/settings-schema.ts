import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import type { DestinationType, JsonObject, SettingDescriptor } from '../api/types.ts';

/** What a stored secret reads as. */
const secretMask = '********';

export type SettingsForm = { readonly schema: RJSFSchema; readonly uiSchema: UiSchema; readonly initial: JsonObject };

/** The form of a kind's settings. Secrets are for writing only: what is stored is neither shown nor asked for again. */
export function settingsForm({ settings }: Pick<DestinationType, 'settings'>, stored: JsonObject): SettingsForm {
  const isStored = (key: string): boolean => stored[key] === secretMask;
  const shown = settings.filter(({ type }) => type !== 'GenericOauth');
  return {
    schema: {
      type: 'object',
      required: shown.filter(({ required, key }) => required === true && !isStored(key)).map(({ key }) => key),
      properties: Object.fromEntries(shown.map((setting) => [setting.key, schemaOf(setting)])),
    },
    uiSchema: Object.fromEntries(shown.map((setting) => [setting.key, uiOf(setting, isStored(setting.key))])),
    initial: Object.fromEntries(
      shown.flatMap(({ key }) => (stored[key] === undefined || isStored(key) ? [] : [[key, stored[key]]])),
    ),
  };
}

/** What has to be sent to make the stored settings those of the form: what was emptied is cleared, secrets only where given. */
export function changedSettings(
  { settings }: Pick<DestinationType, 'settings'>,
  stored: JsonObject,
  values: JsonObject,
): JsonObject {
  const changed: Record<string, unknown> = {};
  for (const { key, type } of settings) {
    if (type === 'Alert' || type === 'GenericOauth') continue;
    const value = values[key] === '' ? undefined : values[key];
    if (value === undefined) {
      if (stored[key] !== undefined && stored[key] !== null && stored[key] !== secretMask) changed[key] = null;
    } else if (value !== stored[key]) {
      changed[key] = value;
    }
  }
  return changed;
}

function schemaOf({ type, label, sublabel, options, defaultValue }: SettingDescriptor): RJSFSchema {
  const words = { title: label, ...(sublabel === null || sublabel === undefined ? {} : { description: sublabel }) };
  switch (type) {
    case 'Alert':
      return { ...words, type: 'null' };
    case 'Switch':
      return { ...words, type: 'boolean', ...(typeof defaultValue === 'boolean' ? { default: defaultValue } : {}) };
    case 'Select':
      return {
        ...words,
        type: 'string',
        oneOf: (options ?? []).map((option) => ({ const: option.value, title: option.label })),
        ...(typeof defaultValue === 'string' ? { default: defaultValue } : {}),
      };
    case 'Text':
    case 'Secret':
    case 'GenericOauth':
      return { ...words, type: 'string' };
  }
}

function uiOf({ type, placeholder }: SettingDescriptor, isStored: boolean): UiSchema {
  if (type === 'Secret') {
    return {
      'ui:widget': 'password',
      'ui:placeholder': isStored ? 'Stored. Type to replace it.' : (placeholder ?? ''),
      'ui:autocomplete': 'new-password',
    };
  }
  return type === 'Text' ? { 'ui:placeholder': placeholder ?? '' } : {};
}
