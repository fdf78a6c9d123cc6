import { useEffect, useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { signIn } from '../api/session.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Logo } from './logo.tsx';

export type SignInProps = {
  /** Why a link did not sign in. */
  readonly failed?: unknown;
  readonly onDone?: () => void;
};

/** Signs in with an API key. */
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
          <SignInForm />
          <p className="hint">
            No key at hand? <code>npm run sign-in-link</code>, beside the running stack, prints a link that signs in. An
            admin makes one for you under Users.
          </p>
        </div>
      </main>
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
