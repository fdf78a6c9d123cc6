import type { CommandContext } from '../keys/commands.ts';
import { findAccount, toolOf } from '../keys/commands.ts';
import { CommandError } from '../../shared/command-line/run-command.ts';
import { isRole, roleNames } from '../keys/roles.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockAccount } from '../draft/edit-entities.ts';
import { User } from '../../shared/postgres/entities.ts';
import { linkMs, makeSignInLink } from '../sessions/sign-in-links.ts';
import { addUser, foldEmail } from './user-store.ts';

export type SignInLinkOptions = { readonly email: string; readonly role?: string; readonly account?: string };

/** Creates a sign-in link for a user and returns its code. With a role, an unknown user is added first. */
export async function signInLinkCommand(
  { storage, now }: CommandContext,
  { email, role, account }: SignInLinkOptions,
): Promise<string> {
  if (role !== undefined && !isRole(role)) {
    throw new CommandError(`--role: ${role} is not a role; it is one of ${roleNames.join(', ')}`);
  }
  return storage.fork().transactional(async (em) => {
    const accountId = await findAccount(em, account);
    await lockAccount(em, accountId);
    const tool = toolOf(accountId);
    let user = await em.findOne(User, { accountId, email: foldEmail(email) });
    if (user === null) {
      if (role === undefined) throw new CommandError(`the account has no user ${email}: add --role to make one`);
      user = await addUser(em, accountId, { email, role }, now);
      recordAudit(em, tool, { action: 'user.create', entityId: user.id, details: { role } }, now);
    } else if (role !== undefined && role !== user.role) {
      throw new CommandError(`${email} has the role ${user.role}: leave --role out, or change it in the console`);
    }
    const expiresAt = new Date(now.getTime() + linkMs.signIn);
    const code = await makeSignInLink(em, { accountId, kind: 'user', id: user.id }, expiresAt, now);
    recordAudit(em, tool, { action: 'session.link', entityId: user.id }, now);
    return code;
  });
}
