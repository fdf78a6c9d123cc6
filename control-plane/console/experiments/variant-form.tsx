import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { useSave } from '../forms/use-save.ts';
import { shareOfControl } from './experiment.ts';
import type { Experiment, Variant } from './experiment.ts';
import { PercentField } from './percent-field.tsx';

export type VariantFormProps = {
  readonly experiment: Experiment;
  readonly variants: readonly Variant[];
  /** Undefined for a new variant. */
  readonly variant: Variant | undefined;
  readonly onDone: () => void;
};

type Property = { readonly name: string; readonly value: string };

/** A variant: name, redirect, properties. */
export function VariantForm({ experiment, variants, variant, onDone }: VariantFormProps): ReactElement {
  const mayDelete = useScope('experimentVariants:delete') && experiment.status === 'Draft';
  const mayUpdate = useScope('experimentVariants:update') && experiment.status !== 'Completed';
  const hasControl = variants.some(({ isControl }) => isControl);
  const [name, setName] = useState(variant?.name ?? (hasControl ? '' : 'Control'));
  const [isControl, setControl] = useState(variant?.isControl ?? !hasControl);
  const [weight, setWeight] = useState(() => Math.max(0, Math.min(50, shareOfControl(variants))));
  const [redirect, setRedirect] = useState(variant?.redirect ?? '');
  const [properties, setProperties] = useState<readonly Property[]>(() =>
    Object.entries(variant?.properties ?? {}).map(([own, value]) => ({ name: own, value })),
  );
  const path = '/collections/experimentVariants';
  const given = properties.filter((property) => property.name !== '');
  const fields = {
    name,
    redirect: redirect === '' ? null : redirect,
    properties: Object.fromEntries(given.map((property) => [property.name, property.value])),
  };
  const save = useSave(fields, (changed, all) =>
    variant === undefined
      ? request('POST', path, { ...all, experimentId: experiment.id, isControl, weight: isControl ? null : weight })
      : request('PATCH', `${path}/${variant.id}`, changed),
  );
  const remove = useChange(() => request('DELETE', `${path}/${variant?.id ?? ''}`));
  return (
    <EditForm
      className="wide inset"
      values={[name, isControl, weight, redirect, properties]}
      save={save}
      onSubmit={() => save.mutate(fields, { onSuccess: onDone })}
    >
      <Field label="Variant name">
        {(ids) => (
          <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      {variant !== undefined || hasControl ? null : (
        <Check label="This is the control: what visitors get today" checked={isControl} onChange={setControl} />
      )}
      {variant !== undefined || isControl ? null : (
        <PercentField label="Weight, in percent of the audience" value={weight} onChange={setWeight} />
      )}
      <Field label="Redirect" hint="A URL, or a path that starts with /. Leave empty to keep visitors on the page.">
        {(ids) => (
          <input {...ids} maxLength={2_048} value={redirect} onChange={(event) => setRedirect(event.target.value)} />
        )}
      </Field>
      <fieldset>
        <legend>Properties</legend>
        <p className="hint">Values the page receives, as text.</p>
        {properties.map((property, index) => (
          // Properties have no key but their index.
          <div className="pair" key={index}>
            <input
              aria-label="Property"
              maxLength={250}
              value={property.name}
              onChange={(event) => setProperties(properties.with(index, { ...property, name: event.target.value }))}
            />
            <input
              aria-label="Value"
              maxLength={4_000}
              value={property.value}
              onChange={(event) => setProperties(properties.with(index, { ...property, value: event.target.value }))}
            />
            <button type="button" className="plain" onClick={() => setProperties(properties.toSpliced(index, 1))}>
              Remove
            </button>
          </div>
        ))}
        <div className="row">
          <button type="button" onClick={() => setProperties([...properties, { name: '', value: '' }])}>
            Add a property
          </button>
        </div>
      </fieldset>
      <ErrorNote error={save.error ?? remove.error} />
      <div className="row">
        {variant === undefined || mayUpdate ? (
          <button type="submit" className="primary" disabled={save.isPending}>
            {variant === undefined ? 'Add it' : 'Save the variant'}
          </button>
        ) : null}
        <button type="button" onClick={onDone}>
          Close
        </button>
        {variant !== undefined && mayDelete ? (
          <button
            type="button"
            className="danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: onDone })}
          >
            Remove
          </button>
        ) : null}
      </div>
    </EditForm>
  );
}
