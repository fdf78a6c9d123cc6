import { expect, test } from 'vitest';
import { compileIdentityRules, defaultIdentityRules } from './identity-rules.ts';

test('identity rules: an account without settings has the default ones, which block nothing', () => {
  expect(compileIdentityRules(undefined)).toBe(defaultIdentityRules);
  expect(defaultIdentityRules).toMatchObject({ emailIdentifies: true, externalIdsMax: 1 });
  expect(defaultIdentityRules.isBlocked('kiosk')).toBe(false);
});

test('identity rules: a blocked value is blocked in any case, with spaces and brackets around it', () => {
  const rules = compileIdentityRules({ externalIdsMax: 3, blockedValues: ['Kiosk'] });
  expect(rules).toMatchObject({ externalIdsMax: 3, emailsMax: 1_000 });
  expect(['kiosk', ' [KIOSK] ', 'kiosk 2', ''].map((text) => rules.isBlocked(text))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
