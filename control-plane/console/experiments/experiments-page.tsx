import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useNavigate } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { FormButton } from '../design/form-button.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { ExperimentState } from './experiment-state.tsx';
import { typeWords } from './experiment.ts';
import type { Experiment, ExperimentType } from './experiment.ts';

/** The experiments of the draft, with a form to add one. */
export function ExperimentsPage(): ReactElement {
  const query = useList<Experiment>('/collections/experiments?limit=100');
  const mayCreate = useScope('experiments:create');
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title="Experiments"
      lead="Visitors are assigned variants at random, and the variants are compared by conversions."
      actions={
        mayCreate ? (
          <FormButton isOpen={isAdding} onChange={setAdding}>
            Add an experiment
          </FormButton>
        ) : null
      }
    >
      {isAdding ? <NewExperiment /> : null}
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? (
          <Empty title="No experiments yet.">
            <p>
              Add one with a control and another variant, start it, publish the draft, and request it in your pages.
            </p>
          </Empty>
        ) : null}
        {query.entities.length === 0 ? null : (
          <Table
            label="Experiments"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Experiment',
                cell: ({ id, name }) => (
                  <Link className="clip short" dir="auto" to={`/experiments/${id}`}>
                    {name}
                  </Link>
                ),
              },
              { title: 'State', cell: (experiment) => <ExperimentState experiment={experiment} /> },
              { title: 'Kind', cell: ({ type }) => <span className="nowrap">{typeWords[type]}</span> },
              { title: 'Key', cell: ({ key }) => <span className="mono clip short">{key}</span> },
              { title: 'Traffic', isNumber: true, cell: ({ trafficAllocation }) => `${trafficAllocation} %` },
              {
                title: 'Conversion event',
                cell: ({ primaryMetric }) => (
                  <span className="clip short" dir="auto">
                    {primaryMetric?.event ?? '–'}
                  </span>
                ),
              },
            ]}
          />
        )}
        <More query={query} />
      </Card>
    </Page>
  );
}

function NewExperiment(): ReactElement {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [key, setKey] = useState('');
  const [type, setType] = useState<ExperimentType>('ab');
  const [metric, setMetric] = useState('');
  const create = useChange((body: object) => request<Experiment>('POST', '/collections/experiments', body));
  const submit = (): void => {
    const primaryMetric = metric === '' ? null : { event: metric };
    create.mutate({ name, key, type, primaryMetric }, { onSuccess: ({ id }) => void navigate(`/experiments/${id}`) });
  };
  return (
    <Card title="Add an experiment">
      <EditForm values={[name, key, type, metric]} save={create} onSubmit={submit}>
        <Field label="Name">
          {(ids) => (
            <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field
          label="Key"
          hint="Pages request the experiment by this key: letters, digits, _ and -. It cannot be changed later."
        >
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={100}
              pattern="[A-Za-z0-9_\-]+"
              className="mono"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Field label="Kind" hint="It cannot be changed later.">
          {(ids) => (
            <select {...ids} value={type} onChange={(event) => setType(event.target.value as ExperimentType)}>
              {Object.entries(typeWords).map(([id, label]) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Conversion event" hint="A visitor who sends this event counts as a conversion.">
          {(ids) => (
            <input {...ids} maxLength={1_000} value={metric} onChange={(event) => setMetric(event.target.value)} />
          )}
        </Field>
        <ErrorNote error={create.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={create.isPending}>
            Add to the draft
          </button>
        </div>
      </EditForm>
    </Card>
  );
}
