import { dataGovernanceEvents, dataGovernanceRules } from '../../shared/collections/data-governance.ts';
import { readLiveCollections } from '../../shared/collections/read-live-collections.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import type { PublishedPlanSettings } from '../../shared/contracts/config/plan-settings.ts';
import type { Envelope } from '../../shared/contracts/events/envelope.ts';
import { compileTrackingPlan } from '../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { PlanVerdict, TrackingPlan } from '../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import { describeHit } from '../../shared/routing/tracking-plan/describe-hit.ts';
import { compilePlanPath } from '../../shared/routing/tracking-plan/plan-path.ts';
import { PlanError } from '../../shared/routing/values/plan-error.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { endedAtPlan } from '../events/recent-events.ts';
import type { RecentEventRecord } from '../events/recent-events.ts';
import { createTurns } from '../events/turns.ts';
import { refuseManyExpressions } from '../versions/count-expressions.ts';

const samplesMax = 5;
/** Limit of the work of a whole trial. One unit takes a few nanoseconds. */
const unitsMax = 50_000_000;

export type TriedRule = {
  readonly rule: string;
  readonly action: string;
  readonly severity: string;
  events: number;
  readonly samples: { readonly eventId: string; readonly event: string; readonly sample: string }[];
};

/** The effect that a tracking plan would have had on some events. */
export type PlanTrial = {
  tried: number;
  /** Events that could not be judged, because the recent-events view has only a part of them or nothing. */
  skipped: number;
  passed: number;
  changed: number;
  quarantined: number;
  dropped: number;
  readonly byRule: Map<string, TriedRule>;
  units: number;
};

export const emptyTrial = (): PlanTrial => ({
  tried: 0,
  skipped: 0,
  passed: 0,
  changed: 0,
  quarantined: 0,
  dropped: 0,
  byRule: new Map(),
  units: 0,
});

/** Whether a trial has used up its limit of work. */
export const isSpent = ({ units }: PlanTrial): boolean => units >= unitsMax;

/**
 * Compiles the tracking plan of a snapshot for a trial. The recent-events view has visitors as they were after an
 * event, not the visitor properties that the event contained, so rules about `visitor` cannot be tried: their ids are
 * in `untried`.
 */
export function compileTrial(
  accountId: string,
  snapshot: Snapshot,
  settings: PublishedPlanSettings,
): { readonly plan: TrackingPlan | undefined; readonly untried: readonly string[] } {
  refuseManyExpressions(snapshot);
  const document = { format: 1, accountId, versionId: '', versionNumber: 0, publishedAt: '', sourceKeys: [] } as const;
  const { collections, unreadable } = readLiveCollections({ ...document, collections: snapshot }, [
    dataGovernanceRules,
    dataGovernanceEvents,
  ]);
  const isTried = (rule: { readonly property: string }): boolean => !isAboutVisitor(rule.property);
  const rules = collections.dataGovernanceRules;
  return {
    plan: compileTrackingPlan({
      rules: rules.filter(isTried),
      events: collections.dataGovernanceEvents,
      unreadable,
      settings,
    }),
    untried: rules.filter((rule) => rule.isEnabled && !isTried(rule)).map(({ id }) => id),
  };
}

function isAboutVisitor(property: string): boolean {
  try {
    return compilePlanPath(property, 'property').root === 'visitor';
  } catch (error) {
    // `compileTrackingPlan` reports this problem.
    if (error instanceof PlanError) return false;
    throw error;
  }
}

/** Judges events, and counts what the tracking plan would do with them. Nothing is stored. */
export async function tryPlan(
  plan: TrackingPlan | undefined,
  accountId: string,
  records: readonly RecentEventRecord[],
  trial: PlanTrial,
): Promise<void> {
  const takeTurn = createTurns();
  for (const record of records) {
    if (isSpent(trial)) return;
    if (endedAtPlan(record) || record.body['truncated'] === true) {
      trial.skipped += 1;
      continue;
    }
    trial.tried += 1;
    const verdict = plan?.concerns(record.name) ? plan.judge(record.name, envelopeOf(accountId, record)) : undefined;
    addUp(trial, record, verdict);
    trial.units += verdict?.units ?? 0;
    await takeTurn();
  }
}

function addUp(trial: PlanTrial, { id, name }: RecentEventRecord, verdict: PlanVerdict | undefined): void {
  if (verdict?.outcome === 'drop') trial.dropped += 1;
  else if (verdict?.outcome === 'quarantine') trial.quarantined += 1;
  else if (verdict?.changed !== undefined) trial.changed += 1;
  else trial.passed += 1;
  for (const hit of verdict?.hits ?? []) {
    const { rule, action, severity } = hit;
    let tried = trial.byRule.get(rule);
    if (tried === undefined) {
      tried = { rule, action, severity, events: 0, samples: [] };
      trial.byRule.set(rule, tried);
    }
    tried.events += 1;
    if (tried.samples.length < samplesMax) tried.samples.push({ eventId: id, event: name, sample: describeHit(hit) });
  }
}

/**
 * The envelope of an event in the recent-events view. The view keeps too little of the visitor and the request to
 * restore those.
 */
function envelopeOf(account: string, { id, name, sourceId, receivedAt, body }: RecentEventRecord): Envelope {
  const member = (field: string) => (isJsonObject(body[field]) ? { ...body[field] } : {});
  const isIdentify = name === '$identify';
  const properties = member('event_properties');
  return structuredClone({
    v: 1,
    account,
    source: sourceId,
    at: receivedAt.getTime(),
    kind: isIdentify ? 'identify' : 'track',
    id,
    body: {
      event: name,
      ...(isIdentify ? { userProperties: properties } : { eventProperties: properties }),
      defaultProperties: member('context'),
    },
  });
}
