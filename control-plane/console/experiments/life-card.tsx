import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Change } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import type { Experiment, ExperimentStatus, StepTaken, Variant } from './experiment.ts';

type Step = 'start' | 'pause' | 'resume' | 'stop' | 'rollout';

const steps: Readonly<Record<ExperimentStatus, readonly Step[]>> = {
  Draft: ['start'],
  Running: ['pause', 'rollout', 'stop'],
  Paused: ['resume', 'rollout', 'stop'],
  Completed: [],
};

const labels: Readonly<Record<Step, string>> = {
  start: 'Start',
  pause: 'Pause',
  resume: 'Resume',
  rollout: 'End with one variant for everyone',
  stop: 'End',
};

const meanings: Readonly<Record<ExperimentStatus, string>> = {
  Draft: 'Not started. It needs a control and at least one more variant to start.',
  Running: 'Visitors are assigned a variant on their first request and keep it.',
  Paused: 'No new visitors are assigned; existing visitors keep their variant.',
  Completed: 'Ended. It cannot be started again.',
};

export type LifeCardProps = { readonly experiment: Experiment; readonly variants: readonly Variant[] };

/** The status of an experiment, with buttons for the next steps: start, pause, resume, end. */
export function LifeCard({ experiment, variants }: LifeCardProps): ReactElement {
  const mayChange = useScope('experiments:update');
  const [ending, setEnding] = useState<'stop' | 'rollout'>();
  const [variantId, setVariantId] = useState('');
  const step = useChange(({ kind, body }: { readonly kind: Step; readonly body?: object }) =>
    request<StepTaken>('POST', `/collections/experiments/${experiment.id}/${kind}`, body),
  );
  const chosen = variants.find(({ id }) => id === variantId) ?? variants[0];
  const draft = useRead<{ readonly changes: readonly Change[] }>('/versions/draft/changes', {
    everyMs: 15_000,
    enabled: useScope('version:find'),
  });
  const own = new Set([experiment.id, ...variants.map(({ id }) => id)]);
  const isPending =
    draft.data === undefined
      ? step.data?.takesEffect === 'nextVersion'
      : draft.data.changes.some(({ collection, id }) => collection.startsWith('experiment') && own.has(id));
  const rolledOut = variants.find(({ id }) => id === experiment.rolloutVariantId);
  return (
    <Card title="Status">
      <p>
        {rolledOut === undefined ? (
          meanings[experiment.status]
        ) : (
          <>
            The experiment has ended, and every visitor gets <strong dir="auto">{rolledOut.name}</strong>.
          </>
        )}
      </p>
      {mayChange && steps[experiment.status].length > 0 ? (
        <div className="row">
          {steps[experiment.status].map((kind) => (
            <button
              key={kind}
              type="button"
              className={kind === 'start' || kind === 'resume' ? 'primary' : kind === 'stop' ? 'danger' : undefined}
              disabled={step.isPending}
              onClick={() => (kind === 'stop' || kind === 'rollout' ? setEnding(kind) : step.mutate({ kind }))}
            >
              {labels[kind]}
            </button>
          ))}
        </div>
      ) : null}
      <ErrorNote error={step.error} />
      {isPending ? (
        <p className="note warn" role="status">
          <span>
            This is the draft's status. Visitors see it once you publish. <Link to="/draft">Publish the draft</Link>
          </span>
        </p>
      ) : null}
      {ending === undefined ? null : (
        <Confirm
          title={ending === 'stop' ? 'End this experiment?' : 'End this experiment with one variant for everyone?'}
          action={ending === 'stop' ? 'End permanently' : 'End with this variant'}
          isDanger={ending === 'stop'}
          onDone={() => setEnding(undefined)}
          onConfirm={() =>
            step.mutateAsync(ending === 'stop' ? { kind: ending } : { kind: ending, body: { variantId: chosen?.id } })
          }
        >
          {ending === 'rollout' ? (
            <Field label="Every visitor gets">
              {(ids) => (
                <select {...ids} value={chosen?.id ?? ''} onChange={(event) => setVariantId(event.target.value)}>
                  {variants.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          ) : null}
          <p>It cannot run again, because its visitors could not be compared with later ones.</p>
        </Confirm>
      )}
    </Card>
  );
}
