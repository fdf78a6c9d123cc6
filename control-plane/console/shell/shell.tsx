import { useEffect, useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { NavLink, useLocation } from 'react-router';
import { chooseAccount, hasScope, useAccounts } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import type { Change } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { leaveThen } from '../forms/unsaved.ts';
import { Logo } from './logo.tsx';
import { places } from './places.ts';
import { SignInForm } from './sign-in-page.tsx';

type ShellProps = {
  readonly children: ReactNode;
  /** Renders the search while it is open. */
  readonly search: (onDone: () => void) => ReactNode;
};

/** The frame of every page: menu, search and account. */
export function Shell({ children, search }: ShellProps): ReactElement {
  const { current } = useAccounts();
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setOpen(false), [pathname]);
  const may = (scope: string): boolean => current !== undefined && hasScope(current.scopes, scope);
  const draft = useRead<{ readonly changes: readonly Change[] }>('/versions/draft/changes', {
    everyMs: 15_000,
    enabled: may('version:find'),
  });
  const changes = draft.data?.changes.length ?? 0;
  const [isSearching, setSearching] = useState(false);
  useSearchKey(() => setSearching(true));
  return (
    <div className="shell">
      <header className={isOpen ? 'side open' : 'side'}>
        <div className="side-top">
          <Logo />
          <button
            type="button"
            className="menu-button"
            aria-expanded={isOpen}
            aria-controls="places"
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <button type="button" className="search-button" onClick={() => setSearching(true)}>
          Search <kbd>/</kbd>
        </button>
        <nav className="places" id="places" aria-label="Pages">
          {places.map((group) => {
            const shown = group.places.filter(({ scope }) => may(scope));
            if (shown.length === 0) return null;
            return (
              <div key={group.title}>
                <h2>{group.title}</h2>
                <ul>
                  {shown.map(({ to, label }) => (
                    <li key={to}>
                      <NavLink to={to} end={to === '/'}>
                        {label}
                        {to === '/draft' && changes > 0 ? (
                          <span className="count">
                            {changes}
                            <span className="hidden-text"> changes</span>
                          </span>
                        ) : null}
                      </NavLink>
                    </li>
                  ))}
                </ul>
              </div>
            );
          })}
        </nav>
        <Who />
      </header>
      <main>{children}</main>
      {isSearching ? search(() => setSearching(false)) : null}
    </div>
  );
}

/** Calls `onSearch` on `/`, Ctrl+K or Cmd+K, unless the key is typed into a field. */
function useSearchKey(onSearch: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isField =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null;
      const isKey = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey));
      if (!isKey || isField) return;
      event.preventDefault();
      onSearch();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function Who(): ReactElement | null {
  const { all = [], current } = useAccounts();
  const [isAdding, setAdding] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  if (current === undefined) return null;
  const leave = (everywhere: boolean): void => leaveThen(() => void signOut(current, everywhere).catch(setFailure));
  return (
    <div className="who">
      {all.length > 1 ? (
        <Field label="Account">
          {(ids) => (
            <select
              {...ids}
              value={current.accountId}
              onChange={({ target }) => leaveThen(() => chooseAccount(target.value))}
            >
              {all.map(({ accountId, accountName }) => (
                <option key={accountId} value={accountId}>
                  {accountName}
                </option>
              ))}
            </select>
          )}
        </Field>
      ) : (
        <p>
          <strong dir="auto">{current.accountName}</strong>
        </p>
      )}
      <p className="soft">
        {current.user === null ? 'Key ' : ''}
        <span dir="auto">{current.user?.email ?? current.keyName}</span>
      </p>
      {isAdding ? <SignInForm onDone={() => setAdding(false)} /> : null}
      <p>
        <a href="/docs/index.html">Documentation</a>
      </p>
      <ErrorNote error={failure} />
      <div className="row">
        <button type="button" className="plain" onClick={() => leave(false)}>
          Sign out
        </button>
        <button type="button" className="plain" onClick={() => leave(true)}>
          Sign out everywhere
        </button>
        <button type="button" className="plain" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
          {isAdding ? 'Not now' : 'Other account'}
        </button>
      </div>
    </div>
  );
}
