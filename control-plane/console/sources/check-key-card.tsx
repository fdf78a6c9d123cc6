import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { CheckedToken } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';

const states: Readonly<Record<CheckedToken['state'], string>> = {
  accepted: 'Gateways accept this key.',
  unknown: 'No source of this account has or had this key.',
  rotated: 'This key was replaced: the source has new keys.',
  notPublished: 'The source of this key is not published yet.',
  disabled: 'The source of this key is disabled.',
  removed: 'The source of this key was removed.',
};

/** Looks up why gateways refuse a key. */
export function CheckKeyCard(): ReactElement {
  const [token, setToken] = useState('');
  const check = useChange((body: object) => request<CheckedToken>('POST', '/sources/tokens/check', body));
  return (
    <Card title="Check a key">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          check.mutate({ token: token.trim() });
        }}
      >
        <Field label="Key of a source" hint="Shows why events with it are answered 401.">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={200}
              value={token}
              onChange={(event) => {
                setToken(event.target.value);
                check.reset();
              }}
            />
          )}
        </Field>
        <ErrorNote error={check.error} />
        <div className="row">
          <button type="submit" disabled={check.isPending}>
            Check
          </button>
          {check.data === undefined ? null : <Answer found={check.data} />}
        </div>
      </form>
    </Card>
  );
}

function Answer({ found: { state, isTest, sourceId, sourceName } }: { readonly found: CheckedToken }): ReactElement {
  return (
    <span role="status">
      <State tone={state === 'accepted' ? 'good' : 'warn'}>{states[state]}</State>{' '}
      {isTest === true ? 'Test key: events are validated and never delivered. ' : null}
      {sourceId === null ? null : (
        <Link dir="auto" to={`/sources/${sourceId}`}>
          {sourceName || 'The source'}
        </Link>
      )}
    </span>
  );
}
