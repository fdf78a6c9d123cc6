import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Card, Empty } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { shareOfControl, stillEdited } from './experiment.ts';
import type { Experiment, Variant, Weights } from './experiment.ts';
import { VariantForm } from './variant-form.tsx';

export type VariantsCardProps = { readonly experiment: Experiment; readonly variants: readonly Variant[] };

/** The variants of an experiment and their weights. */
export function VariantsCard({ experiment, variants }: VariantsCardProps): ReactElement {
  const mayCreate = useScope('experimentVariants:create');
  const [open, setOpen] = useState<string>();
  const isEnded = experiment.status === 'Completed';
  const edited = variants.find(({ id }) => id === open);
  return (
    <Card
      title="Variants"
      aside={
        mayCreate && !isEnded ? (
          <button
            type="button"
            aria-expanded={open === 'new'}
            onClick={() => setOpen(open === 'new' ? undefined : 'new')}
          >
            Add a variant
          </button>
        ) : null
      }
    >
      {open === 'new' ? (
        <VariantForm
          experiment={experiment}
          variants={variants}
          variant={undefined}
          onDone={() => setOpen(undefined)}
        />
      ) : null}
      {variants.length === 0 ? (
        <Empty title="No variants yet.">
          <p>Add the control first (what visitors get today), then the variants to compare with it.</p>
        </Empty>
      ) : (
        <WeightsForm variants={variants} isEnded={isEnded} onEdit={(id) => setOpen(open === id ? undefined : id)} />
      )}
      {edited === undefined ? null : (
        <VariantForm
          key={edited.id}
          experiment={experiment}
          variants={variants}
          variant={edited}
          onDone={() => setOpen(undefined)}
        />
      )}
    </Card>
  );
}

type WeightsFormProps = {
  readonly variants: readonly Variant[];
  readonly isEnded: boolean;
  readonly onEdit: (id: string) => void;
};

function WeightsForm({ variants, isEnded, onEdit }: WeightsFormProps): ReactElement {
  const mayChange = useScope('experimentVariants:update') && !isEnded;
  // Only edited weights, so that the others follow the stored variants.
  const [edited, setEdited] = useState<Weights>(new Map());
  const [saved, setSaved] = useState(edited);
  const before = new Map(variants.map(({ id, weight }) => [id, weight ?? 0]));
  const open = stillEdited(edited, saved, before);
  if (open.size < edited.size) {
    setEdited(open);
    setSaved(new Map([...saved].filter(([id]) => open.has(id))));
  }
  const weighed = variants.map((variant) => ({ ...variant, weight: edited.get(variant.id) ?? variant.weight ?? 0 }));
  const changed = weighed.filter(
    ({ id, isControl, weight }, index) => !isControl && weight !== (saved.get(id) ?? variants[index]?.weight ?? 0),
  );
  const left = shareOfControl(weighed);
  const save = useChange(async () => {
    // Lowered weights are saved first, so that the sum never exceeds 100 %.
    const growth = ({ id, weight }: { readonly id: string; readonly weight: number }): number =>
      weight - (before.get(id) ?? 0);
    for (const { id, weight } of changed.toSorted((a, b) => growth(a) - growth(b))) {
      await request('PATCH', `/collections/experimentVariants/${id}`, { weight });
    }
    setSaved(edited);
  });
  return (
    <EditForm
      className="wide"
      values={changed.map(({ id, weight }) => [id, weight])}
      save={save}
      startsAgain
      onSubmit={() => save.mutate(undefined)}
    >
      <Shares shares={weighed.map(({ isControl, weight }) => (isControl ? Math.max(0, left) : weight))} />
      <ul className="variants">
        {weighed.map(({ id, name, isControl, weight }, index) => (
          <li key={id}>
            <span className={`swatch s${index % 6}`} />
            <span className="clip" dir="auto">
              {name}
            </span>
            {isControl ? (
              <span>
                {left} % <span className="hint">control: the remainder</span>
              </span>
            ) : (
              <label className="percent">
                <input
                  type="number"
                  aria-label={`Weight of ${name}`}
                  min={0}
                  max={100}
                  step={0.01}
                  disabled={!mayChange}
                  value={weight}
                  onChange={(event) => setEdited(new Map(edited).set(id, event.target.valueAsNumber || 0))}
                />
                %
              </label>
            )}
            <button type="button" className="plain" onClick={() => onEdit(id)}>
              Edit
            </button>
          </li>
        ))}
      </ul>
      {left < 0 ? (
        <p className="field-error">The weights add up to {100 - left} %. They must not exceed 100 %.</p>
      ) : null}
      <ErrorNote error={save.error} />
      {mayChange ? (
        <div className="row">
          <button type="submit" disabled={save.isPending || changed.length === 0 || left < 0}>
            Save the weights
          </button>
          {save.isSuccess && changed.length === 0 ? <State tone="good">Saved in the draft</State> : null}
        </div>
      ) : null}
    </EditForm>
  );
}

/** The split of visitors as a bar; hidden from screen readers, because the numbers are next to it. */
function Shares({ shares }: { readonly shares: readonly number[] }): ReactElement {
  return (
    <div className="shares" aria-hidden="true">
      {shares.map((share, index) => (
        <span
          // Shares have no key but their index.
          key={index}
          className={`s${index % 6}`}
          style={{ flexGrow: share }}
        />
      ))}
    </div>
  );
}
