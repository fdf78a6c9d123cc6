import { useEffect, useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { request } from '../api/request.ts';
import type { Page as ListPage, Visitor } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { At } from '../design/time.tsx';

const kinds = { externalId: 'External id', email: 'E-mail address', userId: 'User id' } as const;

/** The reply to a request for an erasure, shown if the key cannot read the erasure's record. */
export type Erased = { readonly erasureId: string; readonly erasedAt: string; readonly recentEventCount: number };

function ErasedNote({ erased }: { readonly erased: Erased }): ReactElement {
  return (
    <div className="note good" role="status">
      <State tone="good">The visitor was erased.</State>
      <p>
        <At at={erased.erasedAt} />, with {countOf(erased.recentEventCount, 'recent event')}. The record and its
        certificate have the id <span className="mono">{erased.erasureId}</span>.
      </p>
    </div>
  );
}

/** Finds a visitor by an identifier. */
export function VisitorsPage(): ReactElement {
  const navigate = useNavigate();
  const maySeeErasures = useScope('erasure:list');
  const { state } = useLocation() as { readonly state: { readonly erased?: Erased } | null };
  const [search, setSearch] = useSearchParams();
  const [kind, setKind] = useState(() => (search.get('by') ?? '') || 'externalId');
  const [text, setText] = useState(search.get('is') ?? '');
  const [error, setError] = useState<unknown>();
  const [isMissing, setMissing] = useState(false);
  const find = async (kind: string, text: string): Promise<void> => {
    setError(undefined);
    setMissing(false);
    setSearch({ by: kind, is: text }, { replace: true });
    try {
      const found = await request<ListPage<Visitor>>('GET', `/visitors?${kind}=${encodeURIComponent(text.trim())}`);
      const [visitor] = found.entities;
      if (visitor === undefined) setMissing(true);
      else await navigate(`/visitors/${encodeURIComponent(visitor.id)}`);
    } catch (failure) {
      setError(failure);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void find(kind, text);
  };
  // The console's search opens this page with `find=1`. The look-up removes `find`, so a reload does not repeat it.
  const isAsked = search.get('find') !== null;
  useEffect(() => {
    if (!isAsked) return;
    const [by, is] = [search.get('by') ?? 'externalId', search.get('is') ?? ''];
    setKind(by);
    setText(is);
    void find(by, is);
  }, [isAsked]);
  return (
    <Page title="Visitors" lead="Find a visitor by an identifier.">
      {state?.erased === undefined ? null : <ErasedNote erased={state.erased} />}
      <Card>
        <form className="inline" role="search" onSubmit={submit}>
          <Field label="Identifier">
            {(ids) => (
              <select {...ids} value={kind} onChange={(event) => setKind(event.target.value)}>
                {Object.entries(kinds).map(([id, label]) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Value">
            {(ids) => (
              <input
                {...ids}
                type="search"
                required
                maxLength={1_000}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          <button className="primary" type="submit">
            Find
          </button>
        </form>
        <ErrorNote error={error} />
        {isMissing ? (
          <div role="status">
            <Empty title="No visitor found.">
              <p>E-mail addresses are not case-sensitive. Ids must match exactly.</p>
              {kind !== 'email' && text.includes('@') ? (
                <button
                  type="button"
                  onClick={() => {
                    setKind('email');
                    void find('email', text);
                  }}
                >
                  Search by e-mail address
                </button>
              ) : null}
              <p>
                Erased visitors cannot be found by an identifier.{' '}
                {maySeeErasures ? <Link to="/erasures">Erasures</Link> : 'The list of erasures'} shows each erasure with
                its time and reference.
              </p>
            </Empty>
          </div>
        ) : null}
      </Card>
    </Page>
  );
}
