import { expect, test } from 'vitest';
import { EnvError, defineEnv } from '../../shared/runtime/env.ts';
import { readSignInSettings, signInEnv } from './sign-in-settings.ts';

const given = {
  issuer: 'https://id.example.com',
  clientId: 'sluice',
  clientSecret: 'canary-secret',
  consoleUrl: 'https://sluice.example.com',
};
const provider = (changes: object) => ({ singleSignOn: { ...given, ...changes } });

const { read } = defineEnv(signInEnv);

function problemsOf(value: string): string {
  try {
    read({ CONSOLE_SIGN_IN: value });
    return '';
  } catch (error) {
    if (error instanceof EnvError) return error.problems.join('; ');
    throw error;
  }
}

test.each([
  ['{', 'must be JSON'],
  [{ sessionHours: 0 }, 'sessionHours must be'],
  [provider({ clientId: undefined }), 'clientId'],
  [provider({ issuer: 'http://id.example.com' }), 'issuer must be an https://'],
  [provider({ consoleUrl: 'sluice.example.com' }), 'consoleUrl must be an https://'],
  [provider({ defaultRole: 'owner' }), 'defaultRole must be one of'],
  [provider({ roles: [{ claim: 'groups', role: 'viewer' }] }), 'roles[0] must have claim and value'],
  [provider({ rolls: [] }), 'rolls'],
])('sign-in settings: %j is a problem that names the field and shows no secret', (wrong, expected) => {
  const problems = problemsOf(typeof wrong === 'string' ? wrong : JSON.stringify(wrong));
  expect(problems).toContain(expected);
  expect(problems).toContain('CONSOLE_SIGN_IN');
  expect(problems).not.toContain('canary');
});

test('sign-in settings: complete settings are accepted, even with http addresses of this machine; a session lasts a week by default', () => {
  const local = provider({ issuer: 'http://127.0.0.1:9/', consoleUrl: 'http://localhost:8081' });
  for (const one of [provider({}), local]) expect(problemsOf(JSON.stringify(one))).toBe('');
  expect(readSignInSettings({})).toEqual({ sessionMs: 7 * 86_400_000, singleSignOn: undefined });
  const twelve = { CONSOLE_SIGN_IN: JSON.stringify({ sessionHours: 12, ...provider({}) }) };
  expect(readSignInSettings(twelve)).toEqual({ sessionMs: 12 * 3_600_000, singleSignOn: given });
});
