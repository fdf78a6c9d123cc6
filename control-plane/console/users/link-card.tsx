import type { ReactElement } from 'react';
import type { SignInLink } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Card } from '../design/page.tsx';
import { At } from '../design/time.tsx';

/** A sign-in link to send to a person. It is shown once. */
export function LinkCard({ email, link }: { readonly email: string; readonly link: SignInLink }): ReactElement {
  const url = `${location.origin}/sign-in#${link.code}`;
  const body = `Sign in to Sluice with this link. It works once.\n\n${url}\n`;
  const mail = `mailto:${encodeURIComponent(email)}?subject=${encodeURIComponent('Sign in to Sluice')}&body=${encodeURIComponent(body)}`;
  return (
    <Card title={`Sign-in link for ${email}`}>
      <div className="stack" role="status">
        <p className="note warn">
          <span>
            Sluice sends no e-mail: copy this link and send it to {email} yourself. It signs in as that person, works
            once, until <At at={link.expiresAt} />, and is not shown again.
          </span>
        </p>
        <Code label="Sign-in link" text={url} />
        <p>
          <a href={mail}>Write an e-mail with this link</a>
        </p>
      </div>
    </Card>
  );
}
