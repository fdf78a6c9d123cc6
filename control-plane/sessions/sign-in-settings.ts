import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Value } from 'typebox/value';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { optionalSecret } from '../../shared/runtime/variables.ts';
import { explain } from '../api/explain.ts';
import { roleNames } from '../keys/roles.ts';

const role = Type.Enum([...roleNames]);
const text = Type.String({ minLength: 1, maxLength: 1_000 });
const closed = { additionalProperties: false } as const;

const singleSignOn = Type.Object(
  {
    issuer: text,
    clientId: text,
    clientSecret: Type.Optional(text),
    consoleUrl: text,
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
    scope: Type.Optional(text),
    accountId: Type.Optional(Type.String({ format: 'uuid' })),
    trustsEmail: Type.Optional(Type.Boolean()),
    roles: Type.Optional(
      Type.Array(
        Type.Object(
          { claim: Type.Optional(text), value: Type.Optional(text), emailDomain: Type.Optional(text), role },
          closed,
        ),
        { maxItems: 100 },
      ),
    ),
    defaultRole: Type.Optional(role),
  },
  closed,
);

const hoursMax = 720;
const signIn = Type.Object(
  {
    sessionHours: Type.Optional(Type.Integer({ minimum: 1, maximum: hoursMax })),
    singleSignOn: Type.Optional(singleSignOn),
  },
  closed,
);

/** How people sign in with their accounts at an OpenID Connect provider. */
export type SingleSignOnSettings = Static<typeof singleSignOn>;

/** A role for users with a claim, or with an address in a domain. */
export type RoleRule = NonNullable<SingleSignOnSettings['roles']>[number];

const hourMs = 3_600_000;
const usualHours = 168;

const variables = {
  CONSOLE_SIGN_IN: optionalSecret(
    'How people sign in to the console, as JSON. `sessionHours`: how long a browser stays signed in, 168 by default. ' +
      '`singleSignOn`: OpenID Connect, with `issuer`, `clientId`, `clientSecret` and `consoleUrl` (the address of the ' +
      'console: the provider sends people back to `<consoleUrl>/rest/v1/session/single-sign-on/callback`); optionally ' +
      '`label` (of the button), `scope` (`openid email profile`), `accountId` (which account, if there are several), ' +
      '`trustsEmail` (`true` for a provider that sends no `email_verified` and whose users cannot choose their address), ' +
      '`roles` (a list of `{claim, value, role}`, applied at each sign-in, and of `{emailDomain, role}`, applied ' +
      'like `defaultRole` to new users only; without a role, only invited users can sign in). Users whose claims fit no ' +
      'rule keep their role. A last rule with the claim `aud` and the value of `clientId` fits all, and takes roles back',
    { problems: signInProblems },
  ),
};

export const { variables: signInEnv, read: readSignInSettings } = defineSettings({
  /** How long a browser stays signed in. */
  sessionMs: fromEnv(variables, (env) => (readChecked(env.CONSOLE_SIGN_IN).sessionHours ?? usualHours) * hourMs),
  singleSignOn: fromEnv(variables, (env) => readChecked(env.CONSOLE_SIGN_IN).singleSignOn),
});

function readChecked(given: string | undefined): Static<typeof signIn> {
  if (given === undefined) return {};
  const [problem] = signInProblems(given);
  if (problem !== undefined) throw new Error(`CONSOLE_SIGN_IN ${problem}`);
  return JSON.parse(given) as Static<typeof signIn>;
}

/** The problems name fields and show no value, since some values are secrets. */
function signInProblems(given: string): readonly string[] {
  const parsed = parse(given);
  if (parsed === undefined) return ['must be JSON'];
  if (!Value.Check(signIn, parsed)) return explain(signIn, parsed);
  return parsed.singleSignOn === undefined ? [] : providerProblems(parsed.singleSignOn);
}

function providerProblems(settings: SingleSignOnSettings): readonly string[] {
  const at = 'singleSignOn';
  const problems = [];
  for (const name of ['issuer', 'consoleUrl'] as const) {
    if (!isTrustworthy(settings[name])) {
      problems.push(`${at}.${name} must be an https:// address; http:// only on this machine`);
    }
  }
  for (const [index, { claim, value, emailDomain }] of (settings.roles ?? []).entries()) {
    const isClaim = claim !== undefined && value !== undefined && emailDomain === undefined;
    const isDomain = claim === undefined && value === undefined && emailDomain !== undefined;
    if (!isClaim && !isDomain) problems.push(`${at}.roles[${index}] must have claim and value, or emailDomain`);
  }
  return problems;
}

function parse(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

const ownHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && ownHosts.has(hostname));
}
