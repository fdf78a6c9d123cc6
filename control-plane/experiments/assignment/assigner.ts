import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { uuidv7 } from 'uuidv7';
import { assign, personalizeVisitor } from '../../../shared/experiments/assign.ts';
import type {
  AssignmentDecision,
  AssignmentRequest,
  Assignments,
  Personalization,
} from '../../../shared/experiments/assign.ts';
import type { PlannedExperiment } from '../../../shared/experiments/experiment-plan.ts';
import type { PageContext } from '../../../shared/experiments/page.ts';
import { readAssignments, storeAssignments } from './assignment-store.ts';
import type { FirstAssignment, StoredAssignments, VisitorAsked } from './assignment-store.ts';
import type { AssignmentQuota } from './assignment-quota.ts';
import { batchCalls } from './batch-calls.ts';
import type { OpenedPlan } from './experiment-plans.ts';
import type { ExperimentLimits } from './experiment-limits.ts';
import type { Impression, ImpressionLog } from './impression-log.ts';

export type Assigned = Extract<AssignmentDecision, { readonly assigned: true }>;

/** Assigns visitors to variants. */
export type Assigner = {
  /**
   * The visitor's variant; undefined if the visitor is not in the experiment. Before it returns, the assignment is
   * stored (while the account has room) and its impression is in the log. Throws PublishError if the impression could
   * not be stored, a 429 if the account exceeds a rate limit, a 400 if the page takes too much work, and
   * TooManyWaitingError.
   */
  assign(
    opened: OpenedPlan,
    request: AssignmentRequest,
    caller: Pick<Impression, 'hasGpc'>,
  ): Promise<Assigned | undefined>;
  /**
   * The visitor's variant in each running experiment, by the experiment's key; undefined if the visitor is not in that
   * experiment. New assignments are stored as by `assign`; no impression is recorded. Throws the last three errors of
   * `assign`.
   */
  flags(
    opened: OpenedPlan,
    visitorId: string,
    keys: readonly string[] | undefined,
  ): Promise<ReadonlyMap<string, Assigned | undefined>>;
  /** The visitor's variants with their properties. Writes nothing. Throws the last three errors listed at `assign`. */
  personalize(opened: OpenedPlan, visitorId: string, context: PageContext | undefined): Promise<Personalized>;
};

export type Personalized = Personalization & {
  /** When the visitor was assigned, by experiment id; applies to variants whose origin is sticky. */
  readonly assignedAt: ReadonlyMap<string, Date>;
};

export type AssignerOptions = {
  readonly pool: Pool;
  readonly impressions: ImpressionLog;
  readonly limits: Pick<ExperimentLimits, 'spend' | 'look'>;
  readonly quota: Pick<AssignmentQuota, 'hasRoom' | 'noteStored'>;
  /** Maximum number of visitors that wait for a read, and of visitors that wait for a write. */
  readonly waitingMax: number;
  now(): Date;
};

const cachedVisitorsMax = 50_000;
// An assigned variant never changes, but another process may merge or erase the visitor.
const cachedForMs = 30_000;
const none: Assignments = new Map();
/** What is cached of a visitor, by account and id. */
type Known = Pick<StoredAssignments, 'assignments' | 'isExternalId'>;
/** Under load, reads and writes together use all connections of the pool, and no batch waits for a connection. */
const batchesAtOnce = { itemsMax: 200, batchesMax: 2 };

export function createAssigner(options: AssignerOptions): Assigner {
  const { pool, impressions, limits, quota, now } = options;
  const batches = { ...batchesAtOnce, waitingMax: options.waitingMax };
  const cache = new LRUCache<string, Known>({ max: cachedVisitorsMax, ttl: cachedForMs });
  const read = batchCalls((asked: readonly VisitorAsked[]) => readAssignments(pool, asked), batches);
  const store = batchCalls((wanted: readonly FirstAssignment[]) => storeAssignments(pool, wanted), batches);
  const keyOf = ({ accountId, visitorId }: VisitorAsked): string => `${accountId}\n${visitorId}`;
  const lookUp = (asked: VisitorAsked): Promise<StoredAssignments> => {
    limits.spend('lookups', asked.accountId, now().getTime());
    return read(asked);
  };
  /** Whether an impression names an externalId: a rollout is decided without having looked. */
  const isExternalId = async (asked: VisitorAsked): Promise<boolean> => {
    const cached = cache.get(keyOf(asked));
    if (cached !== undefined) return cached.isExternalId;
    const { assignments, isExternalId: found } = await lookUp(asked);
    cache.set(keyOf(asked), { assignments, isExternalId: found });
    return found;
  };

  /**
   * `known`: the visitor's data, if this request has already read them; otherwise the cache or the database is read.
   */
  const decide = async (
    { plan, token, isNobody }: OpenedPlan,
    request: AssignmentRequest,
    known?: StoredAssignments,
  ): Promise<AssignmentDecision> => {
    const { accountId } = plan;
    const { visitorId } = request;
    if (isNobody(visitorId)) return noVisitor;
    const key = keyOf({ accountId, visitorId });
    const decideBy = (assignments: Assignments): AssignmentDecision =>
      limits.look(accountId, now().getTime(), (work) => assign(plan, request, assignments, work));
    if (known === undefined) {
      const atOnce = decideBy(cache.get(key)?.assignments ?? none);
      if (!dependsOnStored(atOnce)) return atOnce;
    }
    const found = known ?? (await lookUp({ accountId, visitorId }));
    if (found.erased) return noVisitor;
    const remember = (assignments: Assignments): AssignmentDecision => {
      const decision = decideBy(assignments);
      const isNeeded = assignments.size > 0 || (decision.assigned && decision.impressionDue);
      if (isNeeded) cache.set(key, { assignments, isExternalId: found.isExternalId });
      return decision;
    };
    const decision = remember(found.assignments);
    if (!decision.assigned || decision.store === undefined) return decision;
    // With a test key nothing is stored.
    if (token.kind === 'source' && token.test) return decision;
    // If the assignment is not stored, the algorithm still returns the same variant until the weights change.
    if (!(await quota.hasRoom(accountId))) return decision;
    limits.spend('assignments', accountId, now().getTime());
    const stored = await store({ accountId, visitorId, ...decision.store });
    quota.noteStored(accountId);
    return stored.erased ? noVisitor : remember(new Map([...found.assignments, ...stored.assignments]));
  };

  return {
    async assign(opened, request, { hasGpc }) {
      const decision = await decide(opened, request);
      if (!decision.assigned) return undefined;
      if (decision.impressionDue) {
        const { accountId } = opened.plan;
        const { visitorId } = request;
        limits.spend('impressions', accountId, now().getTime());
        await impressions.write({
          id: uuidv7(),
          accountId,
          token: opened.token,
          visitorId,
          isExternalId: await isExternalId({ accountId, visitorId }),
          atMs: now().getTime(),
          experiment: decision.experiment,
          variant: decision.variant,
          origin: decision.origin,
          url: request.context?.url ?? undefined,
          hasGpc,
        });
      }
      return decision;
    },
    async flags(opened, visitorId, keys) {
      const { accountId, byKey } = opened.plan;
      const wanted = keys === undefined ? undefined : new Set(keys);
      const asked = [...byKey.values()].filter(({ key }) => wanted?.has(key) ?? true).filter(isServed);
      if (asked.length === 0) return new Map();
      const found = await lookUp({ accountId, visitorId });
      const decided = asked.map(async ({ key }): Promise<[string, Assigned | undefined]> => {
        const request = { experimentKey: key, visitorId, trackImpression: false, context: undefined };
        const decision = await decide(opened, request, found);
        return [key, decision.assigned ? decision : undefined];
      });
      return new Map(await Promise.all(decided));
    },
    async personalize({ plan, isNobody }, visitorId, context) {
      if (plan.inOrder.length === 0 || isNobody(visitorId)) return nothing;
      // Bypasses the cache: the answer includes assignments that another process has just made.
      const { erased: gone, assignments, assignedAt } = await lookUp({ accountId: plan.accountId, visitorId });
      if (gone) return nothing;
      const found = limits.look(plan.accountId, now().getTime(), (work) =>
        personalizeVisitor(plan, visitorId, assignments, context, work),
      );
      return { ...found, assignedAt };
    },
  };
}

/** A completed experiment without a rollout is over for all visitors. */
const isServed = ({ status, rollout }: PlannedExperiment): boolean => status !== 'Completed' || rollout !== undefined;

const nothing: Personalized = { properties: {}, by: [], assignedAt: new Map() };
// Nothing may be recorded about an erased visitor, and nothing tells the people behind a placeholder apart: neither
// takes part in an experiment.
const noVisitor: AssignmentDecision = { assigned: false, reason: 'notEligible' };

/** Whether the decision could be different if there is a stored assignment that the cache does not have. */
function dependsOnStored(decision: AssignmentDecision): boolean {
  if (decision.assigned) return decision.origin === 'new';
  return decision.reason === 'paused' || decision.reason === 'outsideAllocation';
}
