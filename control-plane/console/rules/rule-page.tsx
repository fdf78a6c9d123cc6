import { useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { useParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import { Waiting } from '../design/feedback.tsx';
import { Card, Page } from '../design/page.tsx';
import { KeptForm } from './kept-form.tsx';
import type { Question } from './kept-form.tsx';
import { fieldsOf } from './rule.ts';
import type { Kept } from './rule.ts';
import './rules.css';
import { keptPath, useKept } from './use-kept.ts';
import type { KeptCollection } from './use-kept.ts';

/** The rule being edited. */
export type RuleForm<Fields> = {
  /** Undefined for a new rule. */
  readonly id: string | undefined;
  readonly fields: Fields;
  change(changed: Partial<Fields>): void;
};

export type RulePageProps<Fields> = {
  readonly collection: KeptCollection;
  readonly noun: string;
  readonly newTitle: string;
  readonly lead: string;
  /** The page of the list. */
  readonly list: { readonly to: string; readonly label: string };
  /** Path of the page of one entity, by its id. */
  readonly pathOf: (id: string) => string;
  readonly empty: Fields;
  readonly form: (form: RuleForm<Fields>) => ReactNode;
  /** Shown next to the form, such as a trial of the rule. */
  readonly beside?: (form: RuleForm<Fields>) => ReactNode;
  /** Shown below the form of a stored rule. */
  readonly below?: ReactNode;
  /** The question to ask before saving; undefined if the rule is saved without a question. */
  readonly ask?: (fields: Fields) => Question | undefined;
};

/** The page of one rule, or of a new one. */
export function RulePage<Fields extends { readonly name: string | null }>(props: RulePageProps<Fields>): ReactElement {
  const { id } = useParams();
  const query = useRead<Kept<Fields>>(keptPath(props.collection, id ?? ''), {
    enabled: id !== undefined,
    isEdited: true,
  });
  const stored = query.data;
  return (
    <Page title={id === undefined ? props.newTitle : (stored?.name ?? id)} lead={props.lead} back={props.list}>
      {id === undefined ? null : <Waiting query={query} />}
      {id === undefined || stored !== undefined ? (
        <StoredRule
          // The form restarts when another rule is opened.
          key={id ?? ''}
          {...props}
          id={id}
          initial={stored === undefined ? props.empty : fieldsOf<Fields>(stored)}
        />
      ) : null}
      {id === undefined ? null : props.below}
    </Page>
  );
}

type StoredRuleProps<Fields> = RulePageProps<Fields> & {
  readonly id: string | undefined;
  readonly initial: Fields;
};

function StoredRule<Fields extends object>(props: StoredRuleProps<Fields>): ReactElement {
  const { collection, id, initial, noun, list, pathOf, form, beside, ask } = props;
  const kept = useKept(collection, id, initial);
  const [fields, setFields] = useState(initial);
  const written: RuleForm<Fields> = { id, fields, change: (changed) => setFields({ ...fields, ...changed }) };
  const card = (
    <Card>
      <KeptForm
        kept={kept}
        isNew={id === undefined}
        fields={fields}
        noun={noun}
        listPath={list.to}
        pathOf={pathOf}
        {...(ask && { ask })}
      >
        {form(written)}
      </KeptForm>
    </Card>
  );
  if (beside === undefined) return card;
  return (
    <div className="editor">
      {card}
      {beside(written)}
    </div>
  );
}
