import { useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State } from '../design/feedback.tsx';
import { discardUnsavedWork } from '../forms/unsaved.ts';
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';
import type { Kept } from './rule.ts';
import type { KeptRule } from './use-kept.ts';

/** A question before a rule is saved. */
export type Question = { readonly title: string; readonly text: ReactNode; readonly action: string };

export type KeptFormProps<Fields> = {
  readonly kept: KeptRule<Fields>;
  readonly isNew: boolean;
  /** The form's current values. */
  readonly fields: Fields;
  readonly noun: string;
  /** Path of the page with the list. */
  readonly listPath: string;
  /** Path of the page of one entity, by its id. */
  readonly pathOf: (id: string) => string;
  /** The question to ask before saving; undefined if the rule is saved without a question. */
  readonly ask?: (fields: Fields) => Question | undefined;
  readonly children: ReactNode;
};

/** Navigation state that is passed to the page of a new rule when the rule was just saved. */
type SavedState = { readonly isSaved: boolean };

/** The form of a rule. It saves the rule in the draft or removes it. */
export function KeptForm<Fields>(props: KeptFormProps<Fields>): ReactElement {
  const { kept, isNew, fields, noun, listPath, pathOf, ask, children } = props;
  const { save, remove, mayChange, mayRemove } = kept;
  const navigate = useNavigate();
  const { search, state } = useLocation();
  const isSaved = save.isSuccess || (state as SavedState | null)?.isSaved === true;
  const show = ({ id }: Kept<Fields>): void => {
    if (isNew)
      void navigate(`${pathOf(id)}${search}`, { replace: true, state: { isSaved: true } satisfies SavedState });
  };
  const [isRemoving, setRemoving] = useState(false);
  const [question, setQuestion] = useState<Question>();
  const submit = (): void => {
    const asked = ask?.(fields);
    if (asked === undefined) save.mutate(fields, { onSuccess: show });
    else setQuestion(asked);
  };
  return (
    <>
      <EditForm className="wide" values={fields} save={save} onSubmit={submit}>
        {children}
        {mayChange ? null : <p className="note warn">This key can read these rules but not change them.</p>}
        <ErrorNote error={save.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={save.isPending || !mayChange}>
            {save.isPending ? 'Saving …' : 'Save in the draft'}
          </button>
          {mayRemove ? (
            <button type="button" className="danger" onClick={() => setRemoving(true)}>
              Remove
            </button>
          ) : null}
        </div>
        <WhileSaved>{isSaved && !save.isError ? <SavedNote /> : null}</WhileSaved>
      </EditForm>
      {question === undefined ? null : (
        <Confirm
          title={question.title}
          action={question.action}
          cancel="Keep editing"
          onDone={() => setQuestion(undefined)}
          onConfirm={() => save.mutateAsync(fields, { onSuccess: show })}
        >
          <p>{question.text}</p>
        </Confirm>
      )}
      {isRemoving ? (
        <Confirm
          title={`Remove this ${noun}?`}
          action="Remove from the draft"
          isDanger
          onDone={() => setRemoving(false)}
          onConfirm={async () => {
            await remove.mutateAsync(undefined);
            discardUnsavedWork();
            await navigate(listPath);
          }}
        >
          <p>It applies until the draft is published. You can revert the draft until then.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** A note that the saved rule is not live yet. */
function SavedNote(): ReactElement {
  return (
    <p className="note good" role="status">
      <State tone="good">Saved in the draft.</State>
      <span>
        Takes effect when you publish. <Link to="/draft">View the draft</Link>
      </span>
    </p>
  );
}
