import type { ReactElement, ReactNode } from 'react';
import { RequestError } from '../api/request.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'off';

/** A state, in a colour and in words. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }): ReactElement {
  return <span className={`state ${tone}`}>{children}</span>;
}

/** The message of an error; renders nothing if `error` is null or undefined. */
export function ErrorNote({ error }: { readonly error: unknown }): ReactElement | null {
  if (error === null || error === undefined) return null;
  const text = error instanceof Error ? error.message : 'Something went wrong';
  const details = error instanceof RequestError ? error.details : undefined;
  return (
    <div className="note bad" role="alert">
      <p>{sentence(text)}</p>
      {details === undefined ? null : <p className="hint">{sentence(details)}</p>}
    </div>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

export function Loading(): ReactElement {
  return (
    <p className="soft" role="status">
      Loading …
    </p>
  );
}

export type QueryState = { readonly isPending: boolean; readonly error: unknown };

/** A loading note while a query is pending, or its error. */
export function Waiting({ query }: { readonly query: QueryState }): ReactElement | null {
  if (query.error !== null && query.error !== undefined) return <ErrorNote error={query.error} />;
  return query.isPending ? <Loading /> : null;
}
