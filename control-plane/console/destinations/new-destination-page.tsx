import { Fragment, useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Destination, DestinationType, UnavailableKind } from '../api/types.ts';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { findKinds } from './find-kinds.ts';

/** Adds a destination to the draft by kind and name. The settings follow on the destination's own page. */
export function NewDestinationPage(): ReactElement {
  const query = useRead<{ readonly entities: readonly DestinationType[] }>('/destinations/types');
  const [search, setSearch] = useSearchParams();
  const kindId = search.get('kind');
  const kinds = query.data?.entities ?? [];
  const kind = kinds.find(({ id }) => id === kindId);
  return (
    <Page
      title={kind === undefined ? 'Add a destination' : `Add ${kind.label}`}
      lead={kind === undefined ? 'Which platform do events go to?' : undefined}
      back={
        kind === undefined
          ? { to: '/destinations', label: 'Destinations' }
          : { to: '/destinations/new', label: 'All kinds' }
      }
    >
      <Waiting query={query} />
      {kind === undefined ? (
        <Kinds
          kinds={kinds}
          text={search.get('q') ?? ''}
          onText={(text) => setSearch(text === '' ? {} : { q: text }, { replace: true })}
        />
      ) : (
        <Create kind={kind} />
      )}
    </Page>
  );
}

type KindsProps = {
  readonly kinds: readonly DestinationType[];
  readonly text: string;
  readonly onText: (text: string) => void;
};

function Kinds({ kinds, text, onText }: KindsProps): ReactElement {
  const shown = findKinds(kinds, text).toSorted((a, b) => a.label.localeCompare(b.label, 'en'));
  const isSearch = text.trim() !== '';
  const others = useRead<{ readonly entities: readonly UnavailableKind[] }>('/destinations/types/unavailable', {
    enabled: isSearch,
  });
  const unavailable = isSearch ? findKinds(others.data?.entities ?? [], text) : [];
  return (
    <>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Search">
          {(ids) => <input {...ids} type="search" value={text} onChange={(event) => onText(event.target.value)} />}
        </Field>
      </form>
      {shown.length === 0 && kinds.length > 0 && unavailable.length === 0 ? (
        <Empty title="No kind matches.">
          <p>An HTTP destination can send to any URL.</p>
        </Empty>
      ) : null}
      <ul className="choices">
        {shown.map((kind) => (
          <li key={kind.id}>
            <Link to={`/destinations/new?kind=${kind.id}`}>
              <strong>{kind.label}</strong>
              <span className="hint">{needs(kind)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {unavailable.length === 0 ? null : (
        <Card title="Not available">
          <dl className="facts">
            {unavailable.map(({ id, label, reason }) => (
              <Fragment key={id}>
                <dt>{label}</dt>
                <dd>{reason}</dd>
              </Fragment>
            ))}
          </dl>
        </Card>
      )}
    </>
  );
}

function needs({ settings }: DestinationType): string {
  const required = settings
    .filter((setting) => 'required' in setting && setting.required === true)
    .map(({ label }) => label);
  return required.length === 0 ? 'Needs no settings' : `Needs ${required.join(', ')}`;
}

function Create({ kind }: { readonly kind: DestinationType }): ReactElement {
  const navigate = useNavigate();
  const [name, setName] = useState(kind.label);
  const create = useChange((body: object) => request<Destination>('POST', '/destinations', body));
  const submit = (): void => {
    create.mutate({ type: kind.id, name }, { onSuccess: ({ id }) => void navigate(`/destinations/${id}/settings`) });
  };
  return (
    <Card>
      <EditForm values={name} save={create} onSubmit={submit}>
        <Field label="Name" hint="How it appears in lists.">
          {(ids) => (
            <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <p className="soft">
          Next you fill in its settings. The destination is added to the draft and receives events once you publish.
        </p>
        <ErrorNote error={create.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={create.isPending}>
            Add and continue to settings
          </button>
        </div>
      </EditForm>
    </Card>
  );
}
