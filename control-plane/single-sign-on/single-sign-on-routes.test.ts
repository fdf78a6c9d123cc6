import { randomBytes } from 'node:crypto';
import fastify from 'fastify';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { createBrowserSessions } from '../sessions/browser-sessions.ts';
import { callbackPath } from './openid-login.ts';
import { addSingleSignOnRoutes } from './single-sign-on-routes.ts';
import type { SingleSignOnRoutesOptions } from './single-sign-on-routes.ts';

test('single sign-on: the log of a failed sign-in has the code of the error, and nothing that the provider or the browser sent', async () => {
  const lines: string[] = [];
  const secretBox = createSecretBox(randomBytes(32).toString('base64'));
  const now = (): Date => new Date(1_000);
  const options: Pick<SingleSignOnRoutesOptions, 'settings' | 'logger' | 'secretBox' | 'now' | 'amongLogins'> = {
    settings: {
      clientId: 'sluice',
      clientSecret: 'secret-canary',
      // Nothing listens there.
      issuer: 'http://127.0.0.1:9',
      consoleUrl: 'http://127.0.0.1:9',
      scope: 'openid email',
      label: 'Example ID',
      roles: [],
    },
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    secretBox,
    now,
    amongLogins: (_request, work) => work(),
  };
  const app = fastify();
  // Options that only a successful sign-in uses are left out.
  addSingleSignOnRoutes(app, {
    ...options,
    sessions: { isSecure: () => false },
  } as unknown as SingleSignOnRoutesOptions);
  const challenge = { state: 'state-canary', nonce: 'nonce-canary', verifier: 'verifier-canary', untilMs: 2_000 };
  const sealed = secretBox.seal(JSON.stringify(challenge), 'single sign-on');
  const answer = await app.inject({
    url: `${callbackPath}?code=code-canary&state=state-canary`,
    headers: { cookie: `sluice_sign_in=${encodeURIComponent(sealed)}` },
  });
  await app.close();
  expect([answer.statusCode, answer.headers.location]).toEqual([302, 'http://127.0.0.1:9/sign-in?failed=provider']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('canary');
  expect(Object.keys(JSON.parse(lines[0] ?? '') as object).toSorted()).toEqual([
    'code',
    'hostname',
    'level',
    'msg',
    'pid',
    'time',
  ]);
});

test.each([
  ['https://sluice.example.com', true],
  ['http://127.0.0.1:9', false],
])('single sign-on: cookies for a console at %s have the attribute Secure: %s', async (consoleUrl, isSecure) => {
  const secretBox = createSecretBox(randomBytes(32).toString('base64'));
  const app = fastify();
  // A proxy ends TLS. A browser that follows the provider's redirect sends no Origin.
  const sessions = createBrowserSessions({
    secretBox,
    principalOfSession: () => Promise.resolve(undefined),
    sessionMs: 1_000,
    isTls: false,
  });
  addSingleSignOnRoutes(app, {
    settings: { clientId: 'sluice', issuer: 'http://127.0.0.1:9', consoleUrl },
    sessions,
    secretBox,
    now: () => new Date(1_000),
    amongLogins: (_request: unknown, work: () => Promise<unknown>) => work(),
  } as unknown as SingleSignOnRoutesOptions);
  const answer = await app.inject({ url: callbackPath });
  await app.close();
  expect(answer.headers.location).toBe(`${consoleUrl}/sign-in?failed=over`);
  expect(/; Secure(;|$)/.test(String(answer.headers['set-cookie']))).toBe(isSecure);
});
