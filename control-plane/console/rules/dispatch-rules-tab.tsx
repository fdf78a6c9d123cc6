import { useState } from 'react';
import type { ReactElement } from 'react';
import { useList, useRead } from '../api/queries.ts';
import { Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { NamedChecks } from '../forms/named-checks.tsx';
import { AccountTrial } from './account-trial.tsx';
import { useTriedEvent } from './event-choice.tsx';
import { KeptForm } from './kept-form.tsx';
import type { KnownPaths } from './known-paths.ts';
import { LogicBuilder } from './logic-builder.tsx';
import { PriorityField } from './rule-fields.tsx';
import { fieldsOf } from './rule.ts';
import type { Category, DispatchRulesFields, Kept, RuleLanguage } from './rule.ts';
import './rules.css';
import { useKept } from './use-kept.ts';
import { useKnownPaths } from './use-recent.ts';
import { newRuleId } from './use-trial.ts';

/** Rules that stop events for several destinations, applied before any mapping. */
export function DispatchRulesTab(): ReactElement {
  const query = useList<Kept<DispatchRulesFields>>('/collections/globalDispatchCenters?limit=1', {
    isEdited: true,
  });
  const language = useRead<RuleLanguage>('/rules/language');
  const isReady = query.isSuccess && language.data !== undefined;
  const [stored] = query.entities;
  return (
    <>
      <Waiting query={query} />
      <Waiting query={language} />
      {isReady ? <DispatchRulesForm key={stored?.id} stored={stored} language={language.data} /> : null}
    </>
  );
}

type DispatchRulesFormProps = {
  readonly stored: Kept<DispatchRulesFields> | undefined;
  readonly language: RuleLanguage;
};

function DispatchRulesForm({ stored, language }: DispatchRulesFormProps): ReactElement {
  const tried = useTriedEvent();
  const [fields, setFields] = useState<DispatchRulesFields>(
    stored === undefined ? { name: null, isEnabled: true, categories: [] } : fieldsOf(stored),
  );
  const kept = useKept('globalDispatchCenters', stored?.id, fields);
  const changeCategories = (categories: readonly Category[]): void => setFields({ ...fields, categories });
  const known = useKnownPaths();
  // A category without a name is not tried, because it cannot be saved.
  const named = { ...fields, categories: fields.categories.filter(({ name }) => name !== '') };
  return (
    <div className="editor">
      <Card title="Dispatch rules">
        <KeptForm
          kept={kept}
          isNew={stored === undefined}
          fields={fields}
          noun="set of rules"
          listPath="/rules"
          pathOf={() => '/rules/dispatch'}
        >
          <p className="soft">
            A rule that matches an event stops it for the rule's destinations, before any mapping. The lowest priority
            is tried first.
          </p>
          <Check
            label="Enabled"
            checked={fields.isEnabled}
            onChange={(isEnabled) => setFields({ ...fields, isEnabled })}
          />
          {fields.categories.map((category, index) => (
            // Categories have no ids. Their number in the key redraws all of them when one is added or removed.
            // oxlint-disable-next-line react/no-array-index-key
            <CategoryFields
              key={`${index} of ${fields.categories.length}`}
              category={category}
              language={language}
              known={known}
              onChange={(next) =>
                changeCategories(
                  next === undefined ? fields.categories.toSpliced(index, 1) : fields.categories.with(index, next),
                )
              }
            />
          ))}
          <div className="row">
            <button
              type="button"
              onClick={() =>
                changeCategories([...fields.categories, { name: '', priority: 0, destinationIds: [], logic: null }])
              }
            >
              Add a rule
            </button>
          </div>
        </KeptForm>
      </Card>
      <AccountTrial
        tried={tried}
        standIns={{ globalDispatchCenters: { id: stored?.id ?? newRuleId, fields: named } }}
      />
    </div>
  );
}

type CategoryFieldsProps = {
  readonly category: Category;
  readonly language: RuleLanguage;
  readonly known: KnownPaths;
  /** Called with undefined to remove the category. */
  readonly onChange: (category: Category | undefined) => void;
};

function CategoryFields({ category, language, known, onChange }: CategoryFieldsProps): ReactElement {
  return (
    <section className="logic-group" aria-label={category.name === '' ? 'New rule' : category.name}>
      <div className="two">
        <Field label="Rule name">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={250}
              value={category.name}
              onChange={(event) => onChange({ ...category, name: event.target.value })}
            />
          )}
        </Field>
        <PriorityField value={category.priority} onChange={(priority) => onChange({ ...category, priority })} />
      </div>
      <LogicBuilder
        logic={category.logic}
        operators={language.operators}
        known={known}
        without="No events: a rule without a condition stops nothing."
        onChange={(logic) => onChange({ ...category, logic })}
      />
      <NamedChecks
        legend="Stopped for"
        of="destinations"
        none="None selected."
        ids={category.destinationIds}
        onChange={(destinationIds) => onChange({ ...category, destinationIds })}
      />
      <div className="row">
        <button type="button" className="plain" onClick={() => onChange(undefined)}>
          Remove this rule
        </button>
      </div>
    </section>
  );
}
