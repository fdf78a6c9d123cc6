import { useState } from 'react';
import type { ReactElement } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { useList, useRead } from '../api/queries.ts';
import type { Destination } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { Card, Page } from '../design/page.tsx';
import { useTriedEvent } from './event-choice.tsx';
import { eventPaths } from './event-paths.ts';
import { KeptForm } from './kept-form.tsx';
import { LogicBuilder } from './logic-builder.tsx';
import { MappingRows } from './mapping-rows.tsx';
import { MappingTrial } from './mapping-trial.tsx';
import { fieldsOf } from './rule.ts';
import type { MappingFields, RuleLanguage } from './rule.ts';
import './rules.css';
import { useKept } from './use-kept.ts';
import type { KeptRule } from './use-kept.ts';
import { newRuleId } from './use-trial.ts';
import { WithoutMapping } from './without-mapping.tsx';

/** One mapping, or a new one: when it applies, what it does, and what that makes of an event. */
export function MappingPage(): ReactElement {
  const { id } = useParams();
  const [search] = useSearchParams();
  const kept = useKept<MappingFields>('mappings', id);
  const language = useRead<RuleLanguage>('/rules/language');
  const stored = kept.query.data;
  const isReady = language.data !== undefined && (id === undefined || stored !== undefined);
  return (
    <Page
      title={id === undefined ? 'New mapping' : (stored?.name ?? id)}
      lead="Which events a destination receives, and with which name and properties."
      back={{ to: '/rules', label: 'Rules' }}
    >
      <Waiting query={language} />
      {id === undefined ? null : <Waiting query={kept.query} />}
      {isReady ? (
        <MappingForm
          // The form starts again with the stored mapping when that changes.
          key={id ?? ''}
          id={id}
          kept={kept}
          language={language.data}
          initial={
            stored === undefined
              ? { ...emptyMapping, destinationId: search.get('destinationId') ?? '' }
              : fieldsOf<MappingFields>(stored)
          }
        />
      ) : null}
    </Page>
  );
}

const emptyMapping: MappingFields = {
  name: null,
  destinationId: '',
  priority: 0,
  isEnabled: true,
  logic: null,
  action: 'send',
  eventName: null,
  mappings: [],
  others: 'omit',
};

type MappingFormProps = {
  readonly id: string | undefined;
  readonly kept: KeptRule<MappingFields>;
  readonly language: RuleLanguage;
  readonly initial: MappingFields;
};

function MappingForm({ id, kept, language, initial }: MappingFormProps): ReactElement {
  const [fields, setFields] = useState(initial);
  const destinations = useList<Destination>('/destinations?limit=100');
  const tried = useTriedEvent();
  const change = (changed: Partial<MappingFields>): void => setFields({ ...fields, ...changed });
  const paths = eventPaths(tried.event);
  const isListed = destinations.entities.some((one) => one.id === fields.destinationId);
  return (
    <div className="editor">
      <Card>
        <KeptForm
          kept={kept}
          isNew={id === undefined}
          fields={fields}
          noun="mapping"
          listPath="/rules"
          pathOf={(one) => `/rules/mappings/${one}`}
        >
          <div className="two">
            <Field label="Name">
              {(ids) => (
                <input
                  {...ids}
                  maxLength={250}
                  value={fields.name ?? ''}
                  onChange={(event) => change({ name: event.target.value === '' ? null : event.target.value })}
                />
              )}
            </Field>
            <Field label="Destination">
              {(ids) => (
                <select
                  {...ids}
                  required
                  value={fields.destinationId}
                  onChange={(event) => change({ destinationId: event.target.value })}
                >
                  <option value="">Choose one</option>
                  {isListed || fields.destinationId === '' ? null : (
                    <option value={fields.destinationId}>{fields.destinationId}</option>
                  )}
                  {destinations.entities.map(({ id: destinationId, name, type }) => (
                    <option key={destinationId} value={destinationId}>
                      {name ?? type}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label="Priority" hint="The lowest number is tried first.">
              {(ids) => (
                <input
                  {...ids}
                  type="number"
                  step={1}
                  value={fields.priority}
                  onChange={(event) => change({ priority: Math.trunc(event.target.valueAsNumber) || 0 })}
                />
              )}
            </Field>
            <Field label="Action">
              {(ids) => (
                <select
                  {...ids}
                  value={fields.action}
                  onChange={(event) => change({ action: event.target.value === 'stop' ? 'stop' : 'send' })}
                >
                  <option value="send">Send, as below</option>
                  <option value="stop">Stop</option>
                </select>
              )}
            </Field>
          </div>
          <Check label="On" checked={fields.isEnabled} onChange={(isEnabled) => change({ isEnabled })} />
          <LogicBuilder
            logic={fields.logic}
            operators={language.operators}
            paths={paths}
            without="Every event."
            onChange={(logic) => change({ logic })}
          />
          {fields.action === 'stop' ? null : (
            <>
              <Field
                label="Sent as"
                hint="Event name at the destination; may contain {{paths}}. Leave empty to keep the name."
              >
                {(ids) => (
                  <input
                    {...ids}
                    maxLength={1_000}
                    value={fields.eventName ?? ''}
                    onChange={(event) => change({ eventName: event.target.value === '' ? null : event.target.value })}
                  />
                )}
              </Field>
              <MappingRows
                rows={fields.mappings}
                modifications={language.modifications}
                paths={paths}
                onChange={(mappings) => change({ mappings })}
              />
              {fields.mappings.length === 0 ? null : (
                <Field label="Other properties" hint="Those that no row above names.">
                  {(ids) => (
                    <select
                      {...ids}
                      value={fields.others}
                      onChange={(event) => change({ others: event.target.value === 'keep' ? 'keep' : 'omit' })}
                    >
                      <option value="omit">are left out</option>
                      <option value="keep">are sent as they are</option>
                    </select>
                  )}
                </Field>
              )}
            </>
          )}
        </KeptForm>
      </Card>
      <div className="stack">
        <MappingTrial tried={tried} id={id ?? newRuleId} fields={fields} />
        {fields.destinationId === '' ? null : (
          // Opened again for another destination.
          <WithoutMapping key={fields.destinationId} destinationId={fields.destinationId} />
        )}
      </div>
    </div>
  );
}
