import { expect, test } from 'vitest';
import { maskSigningSecret, sealSigningSecret } from './signing-secret.ts';

const sealer = { seal: (plain: string) => `enc:v1:${plain}`, open: (sealed: string) => sealed.slice('enc:v1:'.length) };

test('signing secret: without a key for it none is stored, and none is lost', () => {
  expect(() => sealSigningSecret({ signingSecret: 's' }, null, undefined)).toThrow('signingSecret cannot be stored');
  expect(sealSigningSecret({ signingSecret: 'enc:v1:s' }, 'enc:v1:s', undefined)).toEqual({
    signingSecret: 'enc:v1:s',
  });
  expect(sealSigningSecret({ signingSecret: '********' }, 'enc:v1:s', undefined)).toEqual({
    signingSecret: 'enc:v1:s',
  });
  expect(sealSigningSecret({ signingSecret: null }, 'enc:v1:s', undefined)).toEqual({ signingSecret: null });
  expect(sealSigningSecret({ name: 'a' }, null, undefined)).toEqual({ name: 'a' });
});

test('signing secret: is sealed, and the same one again is no change', () => {
  expect(sealSigningSecret({ signingSecret: 'new' }, 'enc:v1:s', sealer)).toEqual({ signingSecret: 'enc:v1:new' });
  expect(sealSigningSecret({ signingSecret: 's' }, 'enc:v1:s', sealer)).toEqual({ signingSecret: 'enc:v1:s' });
});

test('signing secret: is read back as a mask', () => {
  expect(maskSigningSecret({ signingSecret: 'enc:v1:s' })).toEqual({ signingSecret: '********' });
  expect(maskSigningSecret({ signingSecret: null })).toEqual({ signingSecret: null });
});
