// Not from the package's index, which also imports its test code.
import Form from '@rjsf/core/lib/components/Form.js';
import type { FieldTemplateProps, ObjectFieldTemplateProps, RJSFSchema, UiSchema } from '@rjsf/utils';
import { useState } from 'react';
import type { ReactElement } from 'react';
import type { JsonObject } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { isUnsaved } from './edit-form.tsx';
import type { EditFormProps } from './edit-form.tsx';
import { formValidator } from './form-validator.ts';
import { afterSave } from './settings-schema.ts';
import { useUnsaved } from './unsaved.ts';

export type JsonFormProps = {
  readonly schema: RJSFSchema;
  readonly uiSchema: UiSchema;
  readonly initial: JsonObject;
  /** Changes when `initial` has the values saved by this form: they replace what was sent, not what was typed since. */
  readonly revision: string;
  readonly action: string;
  readonly error: unknown;
  /** The state of the request that saves the form. */
  readonly save: EditFormProps['save'];
  readonly isBusy: boolean;
  readonly onSubmit: (values: JsonObject) => void;
};

/** A form generated from a JSON schema. */
export function JsonForm({
  schema,
  uiSchema,
  initial,
  revision,
  action,
  error,
  save,
  isBusy,
  onSubmit,
}: JsonFormProps): ReactElement {
  const [values, setValues] = useState<JsonObject>(initial);
  const written = JSON.stringify(values);
  const [saved, setSaved] = useState(() => ({ revision, text: JSON.stringify(initial) }));
  const [sent, setSent] = useState<JsonObject>();
  if (saved.revision !== revision) {
    setSaved({ revision, text: JSON.stringify(initial) });
    setValues(afterSave(values, sent ?? {}, initial));
    setSent(undefined);
  }
  useUnsaved(isUnsaved({ written, saved: saved.text, sent: sent && JSON.stringify(sent), status: save.status }));
  return (
    <Form
      schema={schema}
      uiSchema={uiSchema}
      validator={formValidator}
      formData={values}
      idPrefix="setting"
      noHtml5Validate
      showErrorList={false}
      templates={{ FieldTemplate, ObjectFieldTemplate }}
      onChange={({ formData }) => setValues(formData as JsonObject)}
      onSubmit={() => {
        setSent(values);
        onSubmit(values);
      }}
    >
      <ErrorNote error={error} />
      <div className="row">
        <button className="primary" type="submit" disabled={isBusy}>
          {isBusy ? 'Saving …' : action}
        </button>
      </div>
    </Form>
  );
}

function FieldTemplate(props: FieldTemplateProps): ReactElement {
  const { id, label, required, rawDescription, rawErrors, children, schema, hidden } = props;
  if (hidden === true) return <div hidden>{children}</div>;
  if (schema.type === 'object') return <>{children}</>;
  if (schema.type === 'null') return <p className="note">{label}</p>;
  return (
    <div className="field">
      {schema.type === 'boolean' ? null : (
        <label htmlFor={id}>
          {label}
          {required === true ? <span className="hint"> (required)</span> : null}
        </label>
      )}
      {children}
      {rawDescription === undefined || schema.type === 'boolean' ? null : <div className="hint">{rawDescription}</div>}
      {rawErrors?.map((error) => (
        <div key={error} className="field-error" role="alert">
          {label} {error}
        </div>
      ))}
    </div>
  );
}

function ObjectFieldTemplate({ properties }: ObjectFieldTemplateProps): ReactElement {
  return <fieldset>{properties.map(({ content }) => content)}</fieldset>;
}
