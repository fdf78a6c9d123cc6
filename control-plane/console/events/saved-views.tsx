import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { EventView } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';

type SavedViewsProps = { readonly query: string; apply(query: string): void };

/** Named filters, shared by everyone in the account. */
export function SavedViews({ query, apply }: SavedViewsProps): ReactElement {
  const mayChange = useScope('destination:update');
  const views = useRead<{ readonly entities: readonly EventView[] }>('/event-views');
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const save = useChange((body: object) => request<EventView>('POST', '/event-views', body));
  const remove = useChange((one: string) => request('DELETE', `/event-views/${encodeURIComponent(one)}`));
  const current = views.data?.entities.find((view) => view.query === query);
  return (
    <span className="row">
      <Field label="Saved view">
        {(ids) => (
          <select
            {...ids}
            value={current?.name ?? ''}
            onChange={(event) =>
              apply(views.data?.entities.find((view) => view.name === event.target.value)?.query ?? '')
            }
          >
            <option value="">None</option>
            {views.data?.entities.map((view) => (
              <option key={view.name} value={view.name}>
                {view.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {!mayChange ? null : current === undefined ? (
        <button type="button" disabled={query === ''} onClick={() => setNaming(true)}>
          Save this view
        </button>
      ) : (
        <button type="button" disabled={remove.isPending} onClick={() => remove.mutate(current.name)}>
          Delete this view
        </button>
      )}
      <ErrorNote error={views.error ?? remove.error} />
      {isNaming ? (
        <Confirm
          title="Save this view"
          action="Save"
          onDone={() => setNaming(false)}
          onConfirm={() => save.mutateAsync({ name, query })}
        >
          <Field label="Name of the view" hint="Visible to everyone in the account.">
            {(ids) => (
              <input {...ids} required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
        </Confirm>
      ) : null}
    </span>
  );
}
