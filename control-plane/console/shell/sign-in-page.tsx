import { useEffect, useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { useAccounts } from '../api/accounts.ts';
import { goToSingleSignOn, signIn } from '../api/session.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Logo } from './logo.tsx';

export type SignInProps = {
  /** The error of a sign-in link. */
  readonly failed?: unknown;
  readonly onDone?: () => void;
};

/** Signs in by single sign-on, if it is set up, or with an API key. */
export function SignInPage({ failed }: SignInProps): ReactElement {
  useEffect(() => {
    document.title = 'Sign in · Sluice';
  }, []);
  return (
    <div className="sign-in">
      <main className="card">
        <div className="body">
          <Logo />
          <h1>Sign in</h1>
          <ErrorNote error={failed} />
          <SingleSignOn />
          <SignInForm />
          <p className="hint">
            No key at hand? <code>npm run sign-in-link</code>, on the machine of the running stack, prints a link that
            signs in. An admin can create one for you under Users.
          </p>
        </div>
      </main>
    </div>
  );
}

/** Why single sign-on failed, by the code in `failed` of the address. */
const failures: Readonly<Record<string, string>> = {
  over: 'The sign-in took more than ten minutes, or was started in another browser. Try again.',
  provider: 'The provider did not confirm the sign-in. Try again; the log of the control plane has the reason.',
  'no-email': 'The provider gave no confirmed e-mail address.',
  'no-user': 'You have no access yet: ask an admin for an invitation to this e-mail address.',
  'other-person': 'Another user of the provider has already signed in with this e-mail address: ask an admin.',
};

function SingleSignOn(): ReactElement | null {
  const { singleSignOn } = useAccounts();
  const [failure, setFailure] = useState<unknown>();
  const code = new URLSearchParams(location.search).get('failed');
  if (singleSignOn === null) return null;
  return (
    <div className="stack">
      {code === null ? null : (
        <p className="note bad" role="alert">
          {failures[code] ?? failures['provider']}
        </p>
      )}
      <ErrorNote error={failure} />
      <button type="button" className="primary" onClick={() => void goToSingleSignOn().catch(setFailure)}>
        Sign in with {singleSignOn}
      </button>
    </div>
  );
}

export function SignInForm({ onDone }: SignInProps): ReactElement {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await signIn(key.trim());
      onDone?.();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Field label="API key" hint="What you can see depends on this key's scopes.">
        {(ids) => (
          <input
            {...ids}
            className="mono"
            type="password"
            required
            autoComplete="off"
            spellCheck={false}
            placeholder="slk_…"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </Field>
      <ErrorNote error={error} />
      <div className="row">
        <button className="primary" type="submit" disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </div>
    </form>
  );
}
