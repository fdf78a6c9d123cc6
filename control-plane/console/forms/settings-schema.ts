import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import type { DestinationType, JsonObject, SettingDescriptor } from '../api/types.ts';

/** The value that the API returns in place of a stored secret. */
const secretMask = '********';

export type SettingsForm = { readonly schema: RJSFSchema; readonly uiSchema: UiSchema; readonly initial: JsonObject };

/** The form of a kind's settings. Secrets are write-only: stored ones are neither shown nor required again. */
export function settingsForm({ settings }: Pick<DestinationType, 'settings'>, stored: JsonObject): SettingsForm {
  const isStored = (key: string): boolean => stored[key] === secretMask;
  const isRequired = (one: SettingDescriptor): boolean => 'required' in one && one.required === true;
  return {
    schema: {
      type: 'object',
      required: settings.filter((one) => isRequired(one) && !isStored(one.key)).map(({ key }) => key),
      properties: Object.fromEntries(settings.map((setting) => [setting.key, schemaOf(setting)])),
    },
    uiSchema: Object.fromEntries(settings.map((setting) => [setting.key, uiOf(setting, isStored(setting.key))])),
    initial: Object.fromEntries(
      settings.flatMap(({ key }) => (stored[key] === undefined || isStored(key) ? [] : [[key, stored[key]]])),
    ),
  };
}

/** The settings to send: changed values, null for emptied fields, and secrets only if one was entered. */
export function changedSettings(
  { settings }: Pick<DestinationType, 'settings'>,
  stored: JsonObject,
  values: JsonObject,
): JsonObject {
  const changed: Record<string, unknown> = {};
  for (const { key, type } of settings) {
    if (type === 'Alert') continue;
    const value = values[key] === '' ? undefined : values[key];
    if (value === undefined) {
      if (stored[key] !== undefined && stored[key] !== null && stored[key] !== secretMask) changed[key] = null;
    } else if (value !== stored[key]) {
      changed[key] = value;
    }
  }
  return changed;
}

/**
 * The values of a form whose values `sent` were saved: fields unchanged since have the stored values, and none for
 * secrets. Pure.
 */
export function afterSave(values: JsonObject, sent: JsonObject, stored: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(stored), ...Object.keys(values)]);
  const merged = [...keys].map((key) => [key, values[key] === sent[key] ? stored[key] : values[key]] as const);
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

function schemaOf(setting: SettingDescriptor): RJSFSchema {
  const { label } = setting;
  const sublabel = 'sublabel' in setting ? setting.sublabel : null;
  const words = { title: label, ...(sublabel === null ? {} : { description: sublabel }) };
  switch (setting.type) {
    case 'Alert':
      return { ...words, type: 'null' };
    case 'Switch':
      return { ...words, type: 'boolean', ...defaultOf(setting.defaultValue) };
    case 'Select': {
      const choices = setting.options.map((option) => ({ const: option.value, title: option.label }));
      return { ...words, type: 'string', oneOf: choices, ...defaultOf(setting.defaultValue) };
    }
    case 'GenericOauth':
      return {
        ...words,
        type: 'string',
        description: sublabel ?? 'The token that the platform issues when access is granted.',
      };
    case 'Text':
    case 'Secret':
      return { ...words, type: 'string' };
  }
}

function defaultOf(value: string | boolean | null): { readonly default?: string | boolean } {
  return value === null ? {} : { default: value };
}

function uiOf(setting: SettingDescriptor, isStored: boolean): UiSchema {
  const placeholder = 'placeholder' in setting ? setting.placeholder : '';
  switch (setting.type) {
    case 'Secret':
    case 'GenericOauth':
      return {
        'ui:widget': 'password',
        'ui:placeholder': isStored ? 'Stored. Enter a new value to replace it.' : placeholder,
        'ui:autocomplete': 'new-password',
      };
    case 'Text':
      return { 'ui:placeholder': placeholder };
    case 'Alert':
    case 'Select':
    case 'Switch':
      return {};
  }
}
