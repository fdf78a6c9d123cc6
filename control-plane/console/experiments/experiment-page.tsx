import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { useList, useRead } from '../api/queries.ts';
import { Waiting } from '../design/feedback.tsx';
import { Page } from '../design/page.tsx';
import { AskCard } from './ask-card.tsx';
import { ExperimentState } from './experiment-state.tsx';
import { typeWords } from './experiment.ts';
import type { Experiment, Variant } from './experiment.ts';
import './experiments.css';
import { LifeCard } from './life-card.tsx';
import { ResultsCard } from './results-card.tsx';
import { SetupCard } from './setup-card.tsx';
import { VariantsCard } from './variants-card.tsx';

/** One experiment: status, results, variants, audience. */
export function ExperimentPage(): ReactElement {
  const { id = '' } = useParams();
  const query = useRead<Experiment>(`/collections/experiments/${id}`, { isEdited: true });
  const variants = useList<Variant>(`/collections/experimentVariants?experimentId=${id}&limit=100`, { isEdited: true });
  const experiment = query.data;
  // Sorted as visitors are divided among the variants: by id, the control last.
  const ordered = variants.entities.toSorted(
    (a, b) => Number(a.isControl) - Number(b.isControl) || (a.id < b.id ? -1 : 1),
  );
  return (
    <Page
      title={experiment?.name ?? 'Experiment'}
      lead={
        experiment === undefined ? undefined : (
          <>
            {typeWords[experiment.type]}, <span className="mono">{experiment.key}</span>
          </>
        )
      }
      back={{ to: '/experiments', label: 'Experiments' }}
      actions={experiment === undefined ? null : <ExperimentState experiment={experiment} />}
    >
      <Waiting query={query} />
      {experiment === undefined ? null : (
        <>
          <LifeCard experiment={experiment} variants={ordered} />
          {experiment.status === 'Draft' ? null : <ResultsCard id={id} />}
          <div className="columns">
            <div className="stack parts">
              <Waiting query={variants} />
              {variants.isSuccess ? <VariantsCard key={id} experiment={experiment} variants={ordered} /> : null}
              <AskCard experimentKey={experiment.key} />
            </div>
            <SetupCard key={id} experiment={experiment} />
          </div>
        </>
      )}
    </Page>
  );
}
