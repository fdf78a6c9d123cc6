import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Role, SignInLink, User } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { LinkCard } from './link-card.tsx';
import { RoleField } from './role-field.tsx';

type Given = { readonly email: string; readonly role: string };

/** Adds a person, and shows a sign-in link to send to that person. */
export function InviteCard({ roles }: { readonly roles: readonly Role[] }): ReactElement {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('viewer');
  const invite = useChange(async (given: Given) => {
    const user = await request<User>('POST', '/users', given);
    return { user, link: await request<SignInLink>('POST', '/sign-in-links', { userId: user.id }) };
  });
  if (invite.data !== undefined) return <LinkCard email={invite.data.user.email} link={invite.data.link} />;
  return (
    <Card title="Invite a person">
      <p className="hint">Sluice sends no e-mail. You get a sign-in link to send to the person yourself.</p>
      <EditForm values={[email, role]} save={invite} onSubmit={() => invite.mutate({ email, role })}>
        <Field label="E-mail">
          {(ids) => (
            <input
              {...ids}
              type="email"
              required
              maxLength={254}
              autoComplete="off"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <RoleField label="Role" roles={roles} role={role} onChange={setRole} />
        <ErrorNote error={invite.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={invite.isPending || roles.length === 0}>
            Create invitation
          </button>
        </div>
      </EditForm>
    </Card>
  );
}
