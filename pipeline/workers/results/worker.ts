import { resultsConsumer } from '../../../shared/contracts/subjects.ts';
import { consumersByKey, defineWorker } from '../worker/define-worker.ts';
import { resultsCounters, resultsGauges } from './results-context.ts';
import type { ResultsContext } from './results-context.ts';
import { runsExperiments } from './results-plan.ts';
import type { ResultsPlan } from './results-plan.ts';
import { resultsSettings } from './results-settings.ts';
import { startResultsCounter } from './results-counter.ts';

/** Counts the results of an account's experiments. */
export type ResultsSpec = {
  readonly kind: 'results';
  readonly accountId: string;
  /** When the account's live version was published, in ms since the epoch. */
  readonly publishedAtMs: number;
};

type ResultsHost = Pick<ResultsContext, 'connection' | 'pool' | 'logger' | 'beginTurn' | 'suspicion'> & {
  readonly plans: { resultsPlan(accountId: string): ResultsPlan | undefined };
};

export const resultsWorker = defineWorker({
  kind: 'results',
  keyOf: ({ accountId }: ResultsSpec) => accountId,
  weight: 1,
  wanted: {
    by: 'account',
    specs(config): readonly ResultsSpec[] {
      const { accountId, publishedAt } = config;
      const publishedAtMs = Date.parse(publishedAt);
      return runsExperiments(config) ? [{ kind: 'results', accountId, publishedAtMs }] : [];
    },
    specOf: (_key, accountId): ResultsSpec => ({ kind: 'results', accountId, publishedAtMs: 0 }),
    leaves: () => [],
  },
  consumer: consumersByKey(resultsConsumer, 'x'),
  label: undefined,
  counters: resultsCounters,
  families: {},
  gauges: resultsGauges,
  framesRead: undefined,
  start: (
    { accountId, publishedAtMs }: ResultsSpec,
    { connection, pool, logger, plans, beginTurn, suspicion }: ResultsHost,
  ) =>
    startResultsCounter({
      accountId,
      publishedAtMs,
      connection,
      pool,
      logger,
      settings: resultsSettings,
      plan: () => plans.resultsPlan(accountId),
      beginTurn,
      suspicion,
    }),
});
