import { Type } from 'typebox';
import { countDailyResults, countResults } from '../../shared/visitors/count-results.ts';
import type { VariantCount } from '../../shared/visitors/count-results.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { badRequest, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { probabilityToBeBest } from '../experiments/probability-to-be-best.ts';
import { findMeasured } from '../experiments/read-results.ts';
import type { MeasuredExperiment } from '../experiments/summarize-results.ts';

const count = Type.Integer({ minimum: 0 });
const rate = Type.Number({ minimum: 0, maximum: 1 });
const tag = 'Experiments';

const eventName = Type.Optional(
  Type.String({
    maxLength: 1_000,
    description: "The experiment's primary metric, the only event that is counted for it.",
  }),
);
const day = Type.Optional(Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, title: 'a day as in 2026-01-31' }));

const counts = {
  id: Type.String(),
  impressions: { ...count, description: 'Visitors whose first impression was of this variant.' },
  conversions: count,
  conversionRate: { ...rate, description: '0 if there were no visitors.' },
};

export const experimentResultEndpoints = [
  defineEndpoint({
    client: 'platform-library',
    method: 'GET',
    path: '/rest/v1/experiments/{id}/results',
    scope: 'experiments:find',
    id: 'libraryGetExperimentResults',
    tag,
    summary: 'Visitors and conversions of each variant, and how likely each is to be the best',
    query: Type.Object({ eventName }),
    reply: Type.Object({
      variants: Type.Array(
        Type.Object({ ...counts, name: Type.String(), isControl: Type.Boolean(), probabilityToBeBest: rate }),
      ),
    }),
    async handle({ params, query, principal }, { storage, pool }) {
      const measured = await measuredBy(storage, principal.accountId, params.id, query.eventName);
      const { id, body, variants } = measured;
      const counted = await countResults(pool, principal.accountId, id, body.primaryMetric?.event);
      const rows = variants.map((variant) => ({ variant, ...countOf(counted, variant.id) }));
      const best = probabilityToBeBest(rows);
      return {
        variants: rows.map(({ variant, visitors, conversions }, index) => ({
          ...viewCount(variant.id, { visitors, conversions }),
          name: variant.name,
          isControl: variant.isControl,
          probabilityToBeBest: best[index] ?? 0,
        })),
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiments/{id}/results-time-series',
    scope: 'experiments:find',
    id: 'libraryGetExperimentResultsTimeSeries',
    tag,
    summary: 'Visitors and conversions by the UTC day of the first impression; days without visitors are left out',
    query: Type.Object({ eventName, startDate: day, endDate: day }),
    reply: Type.Object({
      days: Type.Array(
        Type.Object({ date: Type.String({ format: 'date' }), variants: Type.Array(Type.Object(counts)) }),
      ),
    }),
    async handle({ params, query, principal }, { storage, pool }) {
      const { startDate = '', endDate = '9999-12-31' } = query;
      const { id, body, variants } = await measuredBy(storage, principal.accountId, params.id, query.eventName);
      const counted = await countDailyResults(pool, principal.accountId, id, body.primaryMetric?.event);
      const dates = new Set(counted.map((one) => one.day).filter((one) => one >= startDate && one <= endDate));
      return {
        days: [...dates].map((date) => {
          const ofDay = counted.filter((one) => one.day === date);
          return { date, variants: variants.map((variant) => viewCount(variant.id, countOf(ofDay, variant.id))) };
        }),
      };
    },
  }),
];

/** The experiment with its measurements. Throws a 400 if `event` is not its primary metric. */
async function measuredBy(
  storage: Storage,
  accountId: string,
  id: string,
  event: string | undefined,
): Promise<MeasuredExperiment> {
  const measured = await found(findMeasured(storage, accountId, id), 'experiment');
  const metric = measured.body.primaryMetric?.event;
  if (event !== undefined && event !== metric) {
    throw badRequest(`eventName must be the primary metric, ${metric ?? 'which this experiment does not have'}`);
  }
  return measured;
}

type Counted = Pick<VariantCount, 'visitors' | 'conversions'>;

function countOf(counted: readonly VariantCount[], variantId: string): Counted {
  return counted.find((one) => one.variantId === variantId) ?? { visitors: 0, conversions: 0 };
}

function viewCount(id: string, { visitors, conversions }: Counted) {
  const conversionRate = visitors === 0 ? 0 : conversions / visitors;
  return { id, impressions: visitors, conversions, conversionRate };
}
