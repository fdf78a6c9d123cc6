import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { useRouteError } from 'react-router';
import { ErrorNote } from '../design/feedback.tsx';
import { Logo } from './logo.tsx';

/** Replaces the console if a page fails to load or render, for example after an upgrade of the control plane. */
export function BrokenPage(): ReactElement {
  const error = useRouteError();
  useEffect(() => {
    document.title = 'Page not loaded · Sluice';
  }, []);
  return (
    <div className="sign-in">
      <main className="card">
        <div className="body">
          <Logo />
          <h1>This page could not be loaded</h1>
          <p>The console may have been upgraded, or the control plane cannot be reached. Reload the page.</p>
          <ErrorNote error={error} />
          <div className="row">
            <button type="button" className="primary" onClick={() => location.reload()}>
              Reload
            </button>
            <a className="button" href="/">
              Overview
            </a>
          </div>
        </div>
      </main>
    </div>
  );
}
