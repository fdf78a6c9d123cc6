import { defaultIdentitySettings } from '../contracts/config/identity-settings.ts';
import type { IdentitySettings } from '../contracts/config/identity-settings.ts';
import type { VisitorClaim } from './visitor-identity.ts';

/** The identity settings of an account that decide about visitors. */
export type IdentityLimits = Pick<IdentitySettings, 'externalIdsMax' | 'emailsMax' | 'userIdsMax' | 'priority'>;

export const defaultIdentityLimits: IdentityLimits = defaultIdentitySettings;

/** Whether an event's e-mail address ranks above its externalId or, without one, above its userId. */
export function ranksEmailFirst({ priority }: IdentityLimits, { userId, externalIds, isAlias }: VisitorClaim): boolean {
  if (isAlias === true || (externalIds.length === 0 && userId === undefined)) return false;
  return priority.indexOf('email') < priority.indexOf(externalIds.length > 0 ? 'externalId' : 'userId');
}

/** Whether two visitors together have more e-mail addresses or ids than the account allows one visitor. */
export function exceedTogether({ emailsMax, userIdsMax }: IdentityLimits, a: Counted, b: Counted): boolean {
  const ids = a.aliases + b.aliases + 2;
  return a.emails + b.emails > emailsMax || ids > userIdsMax;
}

/** The number of a visitor's identifiers, without its id. */
type Counted = { readonly emails: number; readonly aliases: number };
