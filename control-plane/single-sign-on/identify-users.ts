import type { EntityManager } from '@mikro-orm/postgresql';
import { Account, User } from '../../shared/postgres/entities.ts';
import type { UserRow } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockAccount } from '../draft/edit-entities.ts';
import { deleteLinksOfUser } from '../sessions/live-sessions.ts';
import { sessionAccountsMax } from '../sessions/session-cookie.ts';
import { addUser, foldEmail, isLastAdmin } from '../users/user-store.ts';
import { roleOfClaims, roleOfNewcomer } from './choose-role.ts';
import type { Claims } from './choose-role.ts';
import type { SingleSignOnSettings } from '../sessions/sign-in-settings.ts';

/** The reason why a person with a valid account at the provider is not signed in: shown on the sign-in page. */
export type SignInRefusal = 'no-email' | 'no-user' | 'other-person';

/** Maximum number of users with the same address or subject that are read. */
const namedMax = 100;

export class RefusedSignIn extends Error {
  readonly code: SignInRefusal;

  constructor(code: SignInRefusal) {
    super(`single sign-on was refused: ${code}`);
    this.code = code;
  }
}

const provider = (accountId: string): Principal => ({
  accountId,
  kind: 'tool',
  id: 'single-sign-on',
  name: 'single sign-on',
  scopes: [],
  expiresAt: null,
});

/**
 * The users of a person of the provider, one for each account. The first sign-in finds a user by the address, later
 * sign-ins by the subject, so that a person who takes over an address is refused. Throws RefusedSignIn.
 */
export async function identifyUsers(
  em: EntityManager,
  settings: SingleSignOnSettings,
  claims: Claims,
  now: Date,
): Promise<readonly UserRow[]> {
  const { sub, email: given, email_verified: isVerified } = claims;
  const isConfirmed =
    isVerified === true || isVerified === 'true' || (isVerified === undefined && settings.trustsEmail);
  if (typeof given !== 'string' || !given.includes('@') || isConfirmed !== true) throw new RefusedSignIn('no-email');
  const email = foldEmail(given);
  const subject = `${settings.issuer} ${String(sub)}`;
  const limited = settings.accountId === undefined ? {} : { accountId: settings.accountId };
  const named = await em.find(
    User,
    { ...limited, $or: [{ subject }, { email }] },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: namedMax },
  );
  const own = oneOfEachAccount(named, subject).slice(0, sessionAccountsMax);
  if (own.length === 0 && named.length > 0) throw new RefusedSignIn('other-person');
  if (own.length === 0) return [await addNewcomer(em, settings, { claims, email, subject }, now)];
  const role = roleOfClaims(settings, claims);
  for (const user of own) {
    await lockAccount(em, user.accountId);
    user.subject = subject;
    // An account keeps its last admin, whatever role the provider's claims give.
    if (role === undefined || role === user.role || (await isLastAdmin(em, user))) continue;
    const details = { from: user.role, to: role };
    user.role = role;
    await deleteLinksOfUser(em, user.accountId, user.id);
    recordAudit(em, provider(user.accountId), { action: 'user.update', entityId: user.id, details }, now);
  }
  await em.flush();
  return own;
}

/** The person's users. In an account where the person's new address was invited, the user with the subject. */
function oneOfEachAccount(named: readonly UserRow[], subject: string): readonly UserRow[] {
  const users = new Map<string, UserRow>();
  for (const user of named) {
    const known = users.get(user.accountId);
    if (user.subject === subject ? known?.subject !== subject : user.subject === null && known === undefined)
      users.set(user.accountId, user);
  }
  return [...users.values()];
}

type Newcomer = { readonly claims: Claims; readonly email: string; readonly subject: string };

async function addNewcomer(
  em: EntityManager,
  settings: SingleSignOnSettings,
  { claims, email, subject }: Newcomer,
  now: Date,
): Promise<UserRow> {
  const role = roleOfNewcomer(settings, claims, email);
  const accountId = settings.accountId ?? (await onlyAccount(em));
  if (role === undefined || accountId === undefined) throw new RefusedSignIn('no-user');
  await lockAccount(em, accountId);
  // Two concurrent sign-ins of a new person create one user.
  const before = await em.findOne(User, { accountId, email });
  if (before !== null) {
    if (before.subject !== subject) throw new RefusedSignIn('other-person');
    return before;
  }
  const user = await addUser(em, accountId, { email, role, subject }, now);
  recordAudit(em, provider(accountId), { action: 'user.create', entityId: user.id, details: { role } }, now);
  return user;
}

async function onlyAccount(em: EntityManager): Promise<string | undefined> {
  const accounts = await em.find(Account, {}, { limit: 2 });
  return accounts.length === 1 ? accounts[0]?.id : undefined;
}
