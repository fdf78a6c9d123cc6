import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { request } from '../api/request.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';
import { useSave } from '../forms/use-save.ts';
import type { Experiment, QueryRule } from './experiment.ts';
import { PercentField } from './percent-field.tsx';

const operators: Readonly<Record<QueryRule['operator'], string>> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  exists: 'exists',
  not_exists: 'does not exist',
  regex: 'matches',
};

const takesNone = new Set<string>(['exists', 'not_exists']);

/** A form for the audience, pages and conversion event of an experiment. */
export function SetupCard({ experiment }: { readonly experiment: Experiment }): ReactElement {
  const mayChange = useScope('experiments:update');
  const [name, setName] = useState(experiment.name);
  const [description, setDescription] = useState(experiment.description ?? '');
  const [traffic, setTraffic] = useState(experiment.trafficAllocation);
  const [metric, setMetric] = useState(experiment.primaryMetric?.event ?? '');
  const [patterns, setPatterns] = useState(experiment.urlPatterns.join('\n'));
  const [rules, setRules] = useState(experiment.queryRules);
  const fields = {
    name,
    description: description === '' ? null : description,
    trafficAllocation: traffic,
    primaryMetric: metric === '' ? null : { event: metric },
    urlPatterns: patterns.split('\n').filter((pattern) => pattern.trim() !== ''),
    queryRules: rules.map(({ parameter, operator, value }) =>
      takesNone.has(operator) ? { parameter, operator } : { parameter, operator, value: value ?? '' },
    ),
  };
  const save = useSave(fields, (changed) =>
    request<Experiment>('PATCH', `/collections/experiments/${experiment.id}`, changed),
  );
  const change = (index: number, changed: Partial<QueryRule>): void =>
    setRules(rules.map((rule, place) => (place === index ? { ...rule, ...changed } : rule)));
  return (
    <Card title="Audience">
      <EditForm
        className="wide"
        values={[name, description, traffic, metric, patterns, rules]}
        save={save}
        onSubmit={() => save.mutate(fields)}
      >
        <Field label="Name">
          {(ids) => (
            <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Description">
          {(ids) => (
            <textarea
              {...ids}
              maxLength={2_000}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <PercentField
          label="Traffic allocation, in percent of visitors"
          hint="Visitors who are already assigned stay in the experiment."
          value={traffic}
          onChange={setTraffic}
        />
        <Field label="Conversion event">
          {(ids) => (
            <input {...ids} maxLength={1_000} value={metric} onChange={(event) => setMetric(event.target.value)} />
          )}
        </Field>
        <Field
          label="Pages"
          hint="One pattern per line: * matches within a path segment, ** across segments. Leave empty for every page."
        >
          {(ids) => (
            <textarea
              {...ids}
              className="mono"
              spellCheck={false}
              placeholder="https://shop.example.com/checkout/**"
              value={patterns}
              onChange={(event) => setPatterns(event.target.value)}
            />
          )}
        </Field>
        <fieldset>
          <legend>Only where the page’s query matches</legend>
          {rules.map((rule, index) => (
            // Rules have no key but their index.
            <div className="pair" key={index}>
              <input
                aria-label="Parameter"
                required
                maxLength={250}
                placeholder="utm_source"
                value={rule.parameter}
                onChange={(event) => change(index, { parameter: event.target.value })}
              />
              <select
                aria-label="Operator"
                value={rule.operator}
                onChange={(event) => change(index, { operator: event.target.value as QueryRule['operator'] })}
              >
                {Object.entries(operators).map(([id, label]) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
              </select>
              {takesNone.has(rule.operator) ? null : (
                <input
                  aria-label="Value"
                  maxLength={1_000}
                  value={rule.value ?? ''}
                  onChange={(event) => change(index, { value: event.target.value })}
                />
              )}
              <button type="button" className="plain" onClick={() => setRules(rules.toSpliced(index, 1))}>
                Remove
              </button>
            </div>
          ))}
          <div className="row">
            <button
              type="button"
              onClick={() => setRules([...rules, { parameter: '', operator: 'equals', value: '' }])}
            >
              Add a condition
            </button>
          </div>
        </fieldset>
        <ErrorNote error={save.error} />
        <div className="row">
          <button type="submit" disabled={save.isPending || !mayChange}>
            Save in the draft
          </button>
          <WhileSaved>{save.isSuccess ? <State tone="good">Saved in the draft</State> : null}</WhileSaved>
        </div>
      </EditForm>
    </Card>
  );
}
