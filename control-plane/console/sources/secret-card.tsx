import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { Code } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { Card } from '../design/page.tsx';

/** Ids of the source types whose key is visible to every visitor. */
const publicTypes = /^(?:WebSource|PixelImage|RedirectSource|(?:Android|React|iOS)NativeApi)$/;

export const takesUserHash = (type: string): boolean => publicTypes.test(type);

type SecretCardProps = { readonly path: string; readonly secret: string | null; readonly mayRotate: boolean };

/** The secret with which a server signs the identifiers of the source's visitors. */
export function SecretCard({ path, secret, mayRotate }: SecretCardProps): ReactElement {
  const [isRotating, setRotating] = useState(false);
  const rotate = useChange(() => request('POST', `${path}/secret/rotate`));
  const action = secret === null ? 'Create a secret' : 'Replace the secret';
  return (
    <Card title="Signed identifiers">
      <p>
        The key of this source is public. Events with a userHash that your server signed with this secret are trusted
        like server events. Never put the secret into a page or an app.
      </p>
      {secret === null ? <p>It has no secret yet.</p> : <Code label="The secret" text={secret} />}
      {mayRotate ? (
        <button type="button" onClick={() => setRotating(true)}>
          {action}
        </button>
      ) : null}
      {isRotating ? (
        <Confirm
          title={`${action}?`}
          action={action}
          onDone={() => setRotating(false)}
          onConfirm={() => rotate.mutateAsync(undefined)}
        >
          <p>
            {secret === null
              ? 'Your server uses it to sign the identifiers of signed-in people.'
              : 'Hashes made with the current secret stop working at once. Events with them are still accepted, but no longer trusted like server events.'}
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}
