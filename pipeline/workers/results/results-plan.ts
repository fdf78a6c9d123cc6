import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { compileExperimentPlan } from '../../../shared/experiments/experiment-plan.ts';

/** Whether a version has results to count; does not need the version to be compiled. */
export function runsExperiments({ collections, unreadable }: LiveConfig): boolean {
  // An experiment that cannot be read counts nothing for now, but keeps the actor: counting continues once it can be
  // read.
  const lost = unreadable.flatMap(({ collection, entity }) => (collection === 'experiments' ? [entity['status']] : []));
  const statuses: readonly unknown[] = [...collections.experiments.map(({ status }) => status), ...lost];
  return statuses.some((status) => status === 'Running' || status === 'Paused');
}

/** Which of an account's events count for the results of experiments. */
export type ResultsPlan = {
  /** By event name: ids of the experiments for which the event is a conversion. */
  readonly metrics: ReadonlyMap<string, readonly string[]>;
  /** Experiments by key, which is the name of the flag for PostHog, with the ids of their variants by name. */
  readonly flags: ReadonlyMap<string, FlagExperiment>;
};

export type FlagExperiment = { readonly id: string; readonly variantIds: ReadonlyMap<string, string> };

/**
 * Compiles what to count for an account's live version; undefined if no experiment is running or paused. A completed
 * experiment counts nothing: visitors who get its rollout take part in no experiment.
 */
export function compileResultsPlan(config: LiveConfig): ResultsPlan | undefined {
  const counted = [...compileExperimentPlan(config).byKey.values()].filter(({ status }) => status !== 'Completed');
  if (counted.length === 0) return undefined;
  const metrics = new Map<string, string[]>();
  for (const { id, metricEvent } of counted) {
    if (metricEvent === undefined) continue;
    metrics.set(metricEvent, [...(metrics.get(metricEvent) ?? []), id]);
  }
  const flags = counted.map(({ key, id, variants }): [string, FlagExperiment] => {
    const variantIds = new Map([...variants.values()].map((variant) => [variant.name, variant.id]));
    return [key, { id, variantIds }];
  });
  return { metrics, flags: new Map(flags) };
}
