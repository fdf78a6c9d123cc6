import { expect, test } from 'vitest';
import { secretCharactersMax } from '../../shared/collections/sources.ts';
import { maskSourceSecrets, sealSourceSecrets } from './source-secrets.ts';

const sealer = { seal: (plain: string) => `enc:v1:${plain}`, open: (sealed: string) => sealed.slice('enc:v1:'.length) };
const sealers = { signingSecret: sealer, accessToken: sealer };
const none = { signingSecret: undefined, accessToken: undefined };
const fields = ['signingSecret', 'accessToken'] as const;

test.each(fields)('%s: without a key for it none is stored, and none is lost', (field) => {
  const stored = { [field]: 'enc:v1:s' };
  expect(() => sealSourceSecrets({ [field]: 's' }, {}, none)).toThrow(`${field} cannot be stored`);
  expect(() => sealSourceSecrets({ [field]: '********' }, {}, none)).toThrow(`${field} is the mask`);
  expect(() => sealSourceSecrets({ [field]: 'enc:v1:x' }, stored, none)).toThrow(`${field} must not begin`);
  expect(sealSourceSecrets({ [field]: 'enc:v1:s' }, stored, none)).toEqual(stored);
  expect(sealSourceSecrets({ [field]: '********' }, stored, none)).toEqual(stored);
  expect(sealSourceSecrets({ [field]: null }, stored, none)).toEqual({ [field]: null });
  expect(sealSourceSecrets({ name: 'a' }, stored, none)).toEqual({ name: 'a' });
});

test.each(fields)('%s: is sealed, and the same one again is no change', (field) => {
  expect(sealSourceSecrets({ [field]: 'new' }, { [field]: 'enc:v1:s' }, sealers)).toEqual({ [field]: 'enc:v1:new' });
  expect(sealSourceSecrets({ [field]: 's' }, { [field]: 'enc:v1:s' }, sealers)).toEqual({ [field]: 'enc:v1:s' });
});

test.each(fields)('%s: one that would be too long when it is sealed is refused', (field) => {
  const longest = 'x'.repeat(secretCharactersMax[field] - 'enc:v1:'.length);
  expect(sealSourceSecrets({ [field]: longest }, {}, sealers)).toEqual({ [field]: `enc:v1:${longest}` });
  expect(() => sealSourceSecrets({ [field]: `${longest}x` }, {}, sealers)).toThrow(`${field} is too long`);
});

test('source secrets: are read back as masks', () => {
  const sealed = { signingSecret: 'enc:v1:s', accessToken: 'enc:v1:t' };
  expect(maskSourceSecrets(sealed)).toEqual({ signingSecret: '********', accessToken: '********' });
  expect(maskSourceSecrets({ signingSecret: null, accessToken: null })).toEqual({
    signingSecret: null,
    accessToken: null,
  });
});
