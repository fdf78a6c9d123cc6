import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { countResults } from '../../shared/visitors/count-results.ts';
import { experimentBody, experimentStatuses, experimentTypes } from '../../shared/experiments/experiment-bodies.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { findEntity } from '../draft/entity-store.ts';
import { found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { liveContent } from '../versions/version-store.ts';
import { loadVariants, readExperimentBody, readVariantBody } from '../draft/experiment-rows.ts';
import { summarizeResults } from './summarize-results.ts';
import type { MeasuredExperiment } from './summarize-results.ts';

const count = Type.Integer({ minimum: 0 });
const rate = Type.Number({ minimum: 0, maximum: 1 });
const { key, name, primaryMetric } = experimentBody.properties;

const variantResults = Type.Object({
  id: Type.String(),
  name,
  isControl: Type.Boolean(),
  expectedShare: Type.Number({ description: 'Percentage of the visitors that the variant should get by its weight.' }),
  visitors: { ...count, description: 'Visitors whose first impression was of this variant.' },
  conversions: {
    ...count,
    description: 'Visitors who sent the event of the primary metric at or after that impression.',
  },
  conversionRate: nullable(rate),
  confidenceInterval: nullable(Type.Object({ low: rate, high: rate }, { description: "Wilson's score interval." })),
});

const sampleRatio = Type.Object(
  {
    chiSquare: Type.Number(),
    degreesOfFreedom: count,
    pValue: rate,
    isMismatch: Type.Boolean({ description: 'True if the probability is below 0.001: do not trust the results.' }),
  },
  {
    description:
      'Whether visitors are spread over the variants by their weights (chi-square). Null while there are too few ' +
      'visitors. Visitors assigned before a change of weights keep their variant, so a mismatch after a change is expected.',
  },
);

/** Current results of an experiment. */
export const readExperimentResults = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/experiments/{id}/results',
  scope: 'experiments:find',
  id: 'getExperimentResults',
  tag: 'Experiments',
  summary: 'Visitors and conversions of each variant, with confidence intervals and a check of the sample ratio',
  query: Type.Object({
    confidencePercent: Type.Optional(
      Type.Integer({ minimum: 50, maximum: 99, description: 'Confidence of the intervals, in percent. Default 95.' }),
    ),
  }),
  reply: Type.Object({
    experimentId: Type.String(),
    key,
    name,
    type: Type.Enum([...experimentTypes]),
    status: Type.Enum([...experimentStatuses]),
    primaryMetric,
    confidencePercent: Type.Integer(),
    visitors: count,
    conversions: count,
    variants: Type.Array(variantResults),
    sampleRatio: nullable(sampleRatio),
  }),
  async handle({ params, query, principal }, { storage, pool }) {
    const { accountId } = principal;
    const measured = await found(findMeasured(storage, accountId, params.id), 'experiment');
    const counts = await countResults(pool, accountId, measured.id, measured.body.primaryMetric?.event);
    return summarizeResults(measured, counts, query.confidencePercent ?? 95);
  },
});

/** The experiment as it is in the live version, because this is what visitors saw; otherwise as it is in the draft. */
export async function findMeasured(
  storage: Storage,
  accountId: string,
  id: string,
): Promise<MeasuredExperiment | undefined> {
  const em = storage.fork();
  const { experiments, experimentVariants } = await liveContent(em, accountId);
  const live = experiments.find((one) => one.id === id);
  if (live !== undefined) {
    const own = experimentVariants.filter(({ experimentId }) => experimentId === id);
    const variants = own.map((variant) => ({ ...readVariantBody(variant), id: variant.id }));
    return { id, body: readExperimentBody(live), variants };
  }
  const draft = await findEntity(em, accountId, 'experiments', id);
  if (draft === undefined) return undefined;
  return { id, body: readExperimentBody(draft.body), variants: await loadVariants(em, accountId, id) };
}
