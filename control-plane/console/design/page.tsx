import { useEffect } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'react-router';

export type PageProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** The parent page. */
  readonly back?: { readonly to: string; readonly label: string };
  readonly children: ReactNode;
};

/** A page with its title, lead and actions. */
export function Page({ title, lead, actions, back, children }: PageProps): ReactElement {
  useEffect(() => {
    document.title = `${title} · Sluice`;
  }, [title]);
  return (
    <>
      <div className="page-head">
        <div>
          {back === undefined ? null : (
            <Link className="back" to={back.to}>
              ← {back.label}
            </Link>
          )}
          <h1 dir="auto">{title}</h1>
          {lead === undefined ? null : <p className="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </div>
      {children}
    </>
  );
}

export type CardProps = {
  readonly title?: string;
  readonly aside?: ReactNode;
  /** Without padding, for tables, which have their own. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
};

export function Card({ title, aside, isFlush = false, children }: CardProps): ReactElement {
  return (
    <section className="card" aria-label={title}>
      {title === undefined ? null : (
        <header>
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      <div className={isFlush ? 'body flush' : 'body'}>{children}</div>
    </section>
  );
}

/** An empty state: why there is nothing, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactElement {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Shown instead of a page, or of a tab, whose address does not exist. */
export function NotFound(): ReactElement {
  return (
    <Empty title="This page does not exist.">
      <Link to="/">Go to the overview</Link>
    </Empty>
  );
}
