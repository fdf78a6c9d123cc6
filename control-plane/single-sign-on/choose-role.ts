import type { RoleName } from '../keys/roles.ts';
import type { SingleSignOnSettings } from '../sessions/sign-in-settings.ts';

/** The provider's claims about a person, by name. */
export type Claims = Readonly<Record<string, unknown>>;

type Rules = Pick<SingleSignOnSettings, 'roles' | 'defaultRole'>;

/** The role that a person's claims give at a sign-in; undefined if no rule matches. The first matching rule decides. */
export function roleOfClaims({ roles = [] }: Rules, claims: Claims): RoleName | undefined {
  return roles.find(({ claim, value }) => {
    if (claim === undefined || value === undefined || !Object.hasOwn(claims, claim)) return false;
    return [claims[claim]].flat().includes(value);
  })?.role;
}

/** The role of a person who is not a user yet; undefined if an invitation is needed. */
export function roleOfNewcomer(rules: Rules, claims: Claims, email: string): RoleName | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const ofDomain = rules.roles?.find(({ emailDomain }) => emailDomain?.toLowerCase() === domain);
  return roleOfClaims(rules, claims) ?? ofDomain?.role ?? rules.defaultRole;
}
