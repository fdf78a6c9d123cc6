import { expect, test } from 'vitest';
import { formValidator } from './form-validator.ts';
import { afterSave, changedSettings, settingsForm } from './settings-schema.ts';

const plain = { sublabel: null, required: null } as const;
const kind = {
  settings: [
    { key: 'note', type: 'Alert', label: 'Read this first' },
    { ...plain, key: 'url', type: 'Text', label: 'Address', placeholder: 'https://…', required: true },
    { ...plain, key: 'token', type: 'Secret', label: 'Token', placeholder: '', required: true },
    {
      ...plain,
      key: 'method',
      type: 'Select',
      label: 'Method',
      options: [{ label: 'Post', value: 'POST' }],
      defaultValue: null,
    },
    { ...plain, key: 'isLive', type: 'Switch', label: 'Live', defaultValue: true },
    { key: 'access', type: 'GenericOauth', label: 'Access', sublabel: null },
  ],
} as const;

test('settings form: every setting has a field, and the settings of a granted access are secret fields', () => {
  const { schema, uiSchema } = settingsForm(kind, { access: '********' });
  expect(Object.keys(schema.properties ?? {})).toEqual(kind.settings.map(({ key }) => key));
  expect(uiSchema['access']).toMatchObject({
    'ui:widget': 'password',
    'ui:placeholder': 'Stored. Enter a new value to replace it.',
  });
  expect(changedSettings(kind, { access: '********' }, { access: 'granted' })).toEqual({ access: 'granted' });
  expect(changedSettings(kind, { access: '********' }, {})).toEqual({});
});

test('settings form: a stored secret is neither shown nor asked for again', () => {
  const { schema, initial } = settingsForm(kind, { url: 'https://a.example', token: '********' });
  expect(schema.required).toEqual(['url']);
  expect(initial).toEqual({ url: 'https://a.example' });
});

test('settings form: an emptied setting is cleared, a secret is sent only if it was typed, and unchanged settings are not sent', () => {
  const stored = { url: 'https://a.example', token: '********', method: 'POST' };
  expect(changedSettings(kind, stored, { url: 'https://a.example', method: 'POST' })).toEqual({});
  expect(changedSettings(kind, stored, { url: '', token: 'new' })).toEqual({ url: null, token: 'new', method: null });
});

test('settings form: a save replaces what was sent by what was stored and empties secrets; what was typed since stays', () => {
  const sent = { url: 'https://a.example ', method: 'POST', token: 'new', access: 'granted' };
  const typed = { url: 'https://a.example ', method: undefined, token: 'newer', access: 'granted', isLive: false };
  const stored = { isLive: true, url: 'https://a.example', method: 'POST' };
  expect(afterSave(typed, sent, stored)).toEqual({ isLive: false, url: 'https://a.example', token: 'newer' });
  // In the order of the stored settings, with which the form is compared as text.
  expect(JSON.stringify(afterSave(sent, sent, stored))).toBe(JSON.stringify(stored));
});

test('settings form: a problem names its field', () => {
  const { schema } = settingsForm(kind, {});
  const { errors } = formValidator.validateFormData({ token: 'x', method: 'GET' }, schema);
  expect(errors).toContainEqual(expect.objectContaining({ property: '.url', message: 'is required' }));
  expect(errors.some(({ property }) => property === '.method')).toBe(true);
  expect(formValidator.isValid(schema, { url: 'a', token: 'x', method: 'POST' }, schema)).toBe(true);
});
