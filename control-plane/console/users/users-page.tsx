import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useAccounts, useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Role, SignInLink, User } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { InviteCard } from './invite-card.tsx';
import { LinkCard } from './link-card.tsx';
import { RoleField } from './role-field.tsx';

type Ending = { readonly user: User; readonly what: 'remove' | 'sign-out' };

/** The people who sign in to the console: their roles, invitations and sessions. */
export function UsersPage(): ReactElement {
  const query = useList<User>('/users?limit=50', { everyMs: 30_000 });
  const roles = useRead<{ readonly entities: readonly Role[] }>('/roles').data?.entities ?? [];
  const { current } = useAccounts();
  const [mayInvite, mayChange, mayRemove] = [useScope('user:create'), useScope('user:update'), useScope('user:delete')];
  const [isInviting, setInviting] = useState(false);
  const [changing, setChanging] = useState<User>();
  const [ending, setEnding] = useState<Ending>();
  const link = useChange(async (user: User) => ({
    user,
    link: await request<SignInLink>('POST', '/sign-in-links', { userId: user.id }),
  }));
  const end = useChange(({ user, what }: Ending) =>
    request('DELETE', what === 'remove' ? `/users/${user.id}` : `/users/${user.id}/sessions`),
  );
  const roleOf = (id: string): string => roles.find((one) => one.id === id)?.label ?? id;
  return (
    <Page
      title="Users"
      lead="People who sign in to this account's console. Programs use API keys."
      actions={
        mayInvite ? (
          <button type="button" className="primary" aria-expanded={isInviting} onClick={() => setInviting(!isInviting)}>
            Invite a person
          </button>
        ) : null
      }
    >
      {isInviting ? <InviteCard roles={roles} /> : null}
      {link.data === undefined ? null : <LinkCard email={link.data.user.email} link={link.data.link} />}
      <ErrorNote error={link.error} />
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? (
          <Empty title="No users yet.">
            Invite the people who work here, each with a role. Until then, everyone shares an{' '}
            <Link to="/keys">API key</Link>, and the audit trail cannot tell them apart.
          </Empty>
        ) : null}
        {query.entities.length === 0 ? null : (
          <ul className="plain-list rows" aria-label="Users">
            {query.entities.map((user) => (
              <li key={user.id} className="row between">
                <div className="stack tight">
                  <span className="clip" dir="auto" title={user.email}>
                    {user.email}
                    {user.id === current?.user?.id ? ' (you)' : ''}
                  </span>
                  <span className="hint">
                    {roleOf(user.role)} · <LastSignIn user={user} />
                  </span>
                </div>
                <div className="row">
                  {mayInvite ? (
                    <button type="button" disabled={link.isPending} onClick={() => link.mutate(user)}>
                      New link
                    </button>
                  ) : null}
                  {mayChange ? (
                    <button type="button" onClick={() => setChanging(user)}>
                      Change role
                    </button>
                  ) : null}
                  {mayChange && user.sessions > 0 ? (
                    <button type="button" onClick={() => setEnding({ user, what: 'sign-out' })}>
                      End sessions
                    </button>
                  ) : null}
                  {mayRemove ? (
                    <button type="button" className="danger" onClick={() => setEnding({ user, what: 'remove' })}>
                      Remove
                    </button>
                  ) : null}
                </div>
              </li>
            ))}
          </ul>
        )}
        <More query={query} />
      </Card>
      {changing === undefined ? null : (
        <ChangeRole user={changing} roles={roles} onDone={() => setChanging(undefined)} />
      )}
      {ending === undefined ? null : (
        <Confirm
          title={ending.what === 'remove' ? `Remove ${ending.user.email}?` : `Sign ${ending.user.email} out?`}
          action={ending.what === 'remove' ? 'Remove now' : 'End sessions'}
          isDanger
          onDone={() => setEnding(undefined)}
          onConfirm={() => end.mutateAsync(ending)}
        >
          <p>
            {ending.what === 'remove'
              ? 'The person is signed out everywhere and can no longer sign in. API keys that they created stay valid: revoke them under API keys.'
              : 'Every browser of this person is signed out, and unused links stop working.'}
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function LastSignIn({ user: { signedInAt, sessions } }: { readonly user: User }): ReactElement {
  if (signedInAt === null) return <>invited, not signed in yet</>;
  return (
    <>
      signed in <Ago at={signedInAt} />, {sessions === 1 ? '1 session' : `${sessions} sessions`}
    </>
  );
}

type ChangeRoleProps = { readonly user: User; readonly roles: readonly Role[]; readonly onDone: () => void };

function ChangeRole({ user, roles, onDone }: ChangeRoleProps): ReactElement {
  const [role, setRole] = useState(user.role);
  const change = useChange((to: string) => request('PATCH', `/users/${user.id}`, { role: to }));
  return (
    <Confirm
      title={`Change the role of ${user.email}`}
      action="Change role"
      onDone={onDone}
      onConfirm={() => change.mutateAsync(role)}
    >
      <RoleField label="New role" roles={roles} role={role} onChange={setRole} />
    </Confirm>
  );
}
