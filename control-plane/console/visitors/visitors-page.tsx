import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { request } from '../api/request.ts';
import type { Page as ListPage, Visitor } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty, Page } from '../design/page.tsx';

const kinds = { externalId: "The customer's id", email: 'E-mail address', userId: "The visitor's own id" } as const;

/** Finds a visitor by whatever is known of it. */
export function VisitorsPage(): ReactElement {
  const navigate = useNavigate();
  const [search, setSearch] = useSearchParams();
  const [kind, setKind] = useState(() => (search.get('by') ?? '') || 'externalId');
  const [text, setText] = useState(search.get('is') ?? '');
  const [error, setError] = useState<unknown>();
  const [isMissing, setMissing] = useState(false);
  const find = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
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
  return (
    <Page title="Visitors" lead="Find somebody by what is known of them.">
      <Card>
        <form className="inline" role="search" onSubmit={(event) => void find(event)}>
          <Field label="Known is">
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
          <Field label="Which is">
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
            <Empty title="There is no such visitor.">
              <p>E-mail addresses are compared in any spelling, ids exactly as they were sent.</p>
            </Empty>
          </div>
        ) : null}
      </Card>
    </Page>
  );
}
