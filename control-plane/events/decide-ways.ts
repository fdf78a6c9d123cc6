import { Type } from 'typebox';
import { destinationLabel } from '../../shared/collections/kind-labels.ts';
import { readLiveConfig } from '../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../shared/collections/read-live-collections.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { nullable, textOf } from '../../shared/contracts/config/define-collection.ts';
import { SecretError } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { ConsentWords } from '../../shared/contracts/events/consent-words.ts';
import { headOf } from '../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { sentName } from '../../shared/destinations/event-outcomes.ts';
import { plannedKind } from '../../shared/destinations/registry.ts';
import { limitProperties, withLimitedData } from '../../shared/destinations/limit-data.ts';
import { contentOf } from '../../shared/destinations/sdk/request-content.ts';
import { compileAllowedData } from '../../shared/routing/allowed-data.ts';
import { compileDispatchPlan } from '../../shared/routing/dispatch-plan.ts';
import type { Decision } from '../../shared/routing/dispatch-plan.ts';
import { publishedDestinations } from '../../shared/routing/published-destinations.ts';
import type { PublishedDestination } from '../../shared/routing/published-destinations.ts';
import { PlanError } from '../../shared/routing/values/plan-error.ts';
import { eventWorkMax, OverBudgetError, Work } from '../../shared/routing/values/work.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ApiError } from '../api/api-error.ts';
import { maskPersonal } from '../api/mask-personal.ts';
import { sealerFor } from '../destinations/destination-view.ts';
import { prepareDestination } from '../destinations/prepare-destination.ts';
import { previewRequest } from '../destinations/run-test.ts';
import type { ShownRequest } from '../destinations/run-test.ts';
import { refuseManyExpressions } from '../versions/count-expressions.ts';
import { consentAnswer, viewConsent } from './event-view.ts';
import { endedAtPlan } from './recent-events.ts';
import type { RecentEventRecord } from './recent-events.ts';
import { createTurns } from './turns.ts';

const text = Type.String();

/** The decision of the rules about one event at one destination. */
export const wayReply = Type.Object({
  destinationId: text,
  name: Type.String({ description: 'The name of the destination, or of its kind if it has none.' }),
  type: text,
  decision: Type.Enum(['send', 'skip', 'stop', 'globalStop', 'broken'], {
    description:
      'skip: the event is not for this destination. broken: the destination or its rules cannot be used; `why` gives the reason.',
  }),
  why: Type.String({ description: 'In words.' }),
  consent: nullable(Type.Array(consentAnswer, { description: 'The consent answers that stop or limit it.' })),
  ruleId: nullable(Type.String({ description: 'Id of the mapping or rule that decided; null if none did.' })),
  ruleName: nullable(Type.String({ description: 'Name of the mapping; null if it has none.' })),
  eventName: nullable(Type.String({ description: "The event's name after the mapping." })),
  sentName: nullable(
    Type.String({
      description: 'The event name in the request to the platform; null if the request has none.',
    }),
  ),
  properties: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The properties that the mapping creates; null: all properties of the event.',
    }),
  ),
  waiting: nullable(
    Type.String({
      description:
        'Why the event probably waits, if the live rules send it to the destination and no outcome is recorded there.',
    }),
  ),
  request: nullable(
    Type.Object({
      method: text,
      url: text,
      headers: Type.Record(Type.String(), Type.String()),
      body: nullable(text),
    }),
  ),
});

/** The members of a decision that contain values of a person. */
export const wayMembers = ['properties', 'url', 'headers', 'body'] as const;

/** The rules to apply, and the destinations for which they are applied. */
export type RulesAsked = {
  readonly accountId: string;
  readonly snapshot: Snapshot;
  /** Undefined: all destinations. */
  readonly destinationIds: ReadonlySet<string> | undefined;
  /** Whether the request is built as well. */
  readonly withRequests: boolean;
  readonly secretBox: SecretBox;
  readonly nowMs: number;
};

export type WaysAsked = Omit<RulesAsked, 'destinationIds' | 'withRequests'> & {
  readonly record: RecentEventRecord;
  readonly destinationId: string | undefined;
};

const skipReasons = {
  test: 'Sent with a test key: test events are never sent to destinations.',
  not_allowed: 'Its name is not among the allowed events of this destination.',
  disabled: 'The destination is disabled.',
  source: 'The destination accepts events of other sources only.',
  integrations: 'The event excludes this destination in `integrations`.',
} as const;

/** Limit of the work of all destinations' rules for one event: it bounds the size of what is shown. */
const allWorkMax = 10 * eventWorkMax;

/**
 * Applies the rules of a snapshot to an event, as dispatchers do. For a single destination the request is shown as
 * well. If the view has left out parts of a large event, the rules do not see these parts.
 */
export async function decideWays({ record, destinationId, ...asked }: WaysAsked): Promise<Way[]> {
  const isOne = destinationId !== undefined;
  return compileWays({ ...asked, destinationIds: isOne ? new Set([destinationId]) : undefined, withRequests: isOne })(
    record,
  );
}

/** Masks event names that a mapping takes from values of the event or its visitor. */
export function maskNames(ways: readonly Way[], { mappings }: Pick<Snapshot, 'mappings'>): Way[] {
  const templated = new Set(mappings.filter((one) => textOf(one['eventName']).includes('{{')).map(({ id }) => id));
  return ways.map((way) =>
    way.ruleId !== null && templated.has(way.ruleId) ? (maskPersonal(way, ['eventName', 'sentName']) as Way) : way,
  );
}

/** Like `decideWays`, but compiles the rules once for many events. */
export function compileWays(asked: RulesAsked): (record: RecentEventRecord) => Promise<Way[]> {
  const { accountId, snapshot, destinationIds } = asked;
  refuseManyExpressions(snapshot);
  const config = readLiveConfig({
    format: 1,
    accountId,
    versionId: '',
    versionNumber: 0,
    publishedAt: '',
    sourceKeys: [],
    collections: snapshot,
  });
  const wanted = publishedDestinations(config).filter(({ id }) => destinationIds?.has(id) !== false);
  const decided = wanted.map((destination) => {
    const entity = snapshot.destinations.find(({ id }) => id === destination.id);
    const { id: destinationId, type } = destination;
    const named = { destinationId, name: textOf(entity?.['name']) || destinationLabel(type), type };
    let decide: ReturnType<typeof compileWay> | undefined;
    // Compiled on first use, so that other requests are answered between two destinations.
    const compiled = (): ReturnType<typeof compileWay> => (decide ??= compileWay(config, destination, asked));
    return { named, compiled };
  });
  const names = new Map(snapshot.mappings.map(({ id, name }) => [id, name]));
  const takeTurn = createTurns();
  return async (record) => {
    const ways: Way[] = [];
    let spent = 0;
    for (const { named, compiled } of decided) {
      await takeTurn();
      const work = new Work(eventWorkMax);
      const verdict = spent > allWorkMax ? tooCostly : compiled()(record, work);
      spent += work.spent;
      const name = verdict.ruleId === null ? undefined : names.get(verdict.ruleId);
      ways.push({ ...named, ...verdict, ruleName: typeof name === 'string' ? name : null });
    }
    return ways;
  };
}

export type Way = Verdict & {
  readonly destinationId: string;
  readonly name: string;
  readonly type: string;
  readonly ruleName: string | null;
};

type Verdict = {
  readonly decision: 'send' | 'skip' | 'stop' | 'globalStop' | 'broken';
  readonly why: string;
  readonly consent: JsonObject[] | null;
  readonly waiting: string | null;
  readonly ruleId: string | null;
  readonly eventName: string | null;
  readonly sentName: string | null;
  readonly properties: JsonObject | null;
  readonly request: ShownRequest | null;
};

const nothing = {
  consent: null,
  waiting: null,
  ruleId: null,
  eventName: null,
  sentName: null,
  properties: null,
  request: null,
} as const;

const tooCostly: Verdict = {
  ...nothing,
  decision: 'broken',
  why: 'The rules of the destinations take too much work to apply them all: choose this destination alone.',
};

function compileWay(
  config: LiveConfig,
  destination: PublishedDestination,
  asked: RulesAsked,
): (record: RecentEventRecord, work: Work) => Verdict {
  let decide: ReturnType<typeof compileDispatchPlan>['decide'];
  try {
    ({ decide } = compileDispatchPlan(config, destination, plannedKind(destination.type)));
  } catch (error) {
    const verdict = broken(error);
    return (record) => (endedAtPlan(record) ? endedEarlier(record) : verdict);
  }
  const limit = compileAllowedData(config.collections.externalAllowedEventData);
  // Secrets are opened only if the event is sent.
  let opened: ReturnType<typeof prepareDestination> | undefined;
  const ready = (): ReturnType<typeof prepareDestination> => {
    if (opened === undefined) {
      const sealer = sealerFor(asked.secretBox, asked.accountId, destination.id);
      const prepared = prepareDestination(destination.type, destination.settings, sealer);
      opened = limit === undefined ? prepared : { ...prepared, prepared: withLimitedData(prepared.prepared, limit) };
    }
    return opened;
  };
  return (record, work) => {
    if (endedAtPlan(record)) return endedEarlier(record);
    const resolved = resolvedOf(asked.accountId, record);
    try {
      const decision = decide(headOf(resolved), { ...resolved, work });
      if (decision.kind !== 'send') return { ...nothing, ...explainStop(decision) };
      const { ruleId, mapped, limitedBy, consentMode } = decision;
      const isLimited = limitedBy !== undefined;
      const { event } = resolved.event;
      const sent: Verdict = {
        ...nothing,
        decision: 'send',
        why: `${mapped === undefined ? 'No mapping matches: the event is sent unchanged' : 'A mapping creates the payload'}${isLimited ? ', for limited use only.' : '.'}`,
        consent: limitedBy === undefined ? null : viewConsent(limitedBy.answers),
        ruleId: ruleId ?? null,
        eventName: mapped?.eventName ?? event,
        properties:
          mapped === undefined || limit === undefined
            ? (mapped?.properties ?? null)
            : limitProperties(limit, event, mapped.properties, mapped.properties !== resolved.event.event_properties),
      };
      if (!asked.withRequests) return sent;
      const outbound = { resolved, mapped, isLimited, consentMode, work: new Work(eventWorkMax) };
      const preview = previewRequest(ready(), outbound, asked.nowMs);
      if (typeof preview === 'string') return { ...sent, decision: 'broken', why: preview };
      const { kind } = ready();
      const name = mapped?.eventName ?? event;
      return {
        ...sent,
        request: preview,
        sentName: sentName(kind, { name, isRenamed: name !== event }, [contentOfShown(preview)]) ?? null,
      };
    } catch (error) {
      return broken(error);
    }
  };
}

function broken(error: unknown): Verdict {
  const isExplained = [PlanError, ApiError, SecretError, OverBudgetError].some((known) => error instanceof known);
  if (!(error instanceof Error && isExplained)) throw error;
  return { ...nothing, decision: 'broken', why: error.message };
}

function endedEarlier({ plan }: RecentEventRecord): Verdict {
  return {
    ...nothing,
    decision: 'skip',
    why: `The tracking plan ${plan?.outcome === 'dropped' ? 'dropped' : 'quarantined'} it.`,
  };
}

/** The JSON, form or query of a shown request. */
function contentOfShown({ url, body, headers }: ShownRequest): unknown {
  return contentOf({ method: 'POST', url, headers, body: body ?? undefined });
}

function explainStop(
  decision: Exclude<Decision, { kind: 'send' }>,
): Pick<Verdict, 'decision' | 'why'> & { ruleId?: string; consent?: JsonObject[] } {
  switch (decision.kind) {
    case 'skip':
      return { decision: 'skip', why: skipReasons[decision.rule] };
    case 'stop':
      return { decision: 'stop', why: 'A mapping stops it.', ruleId: decision.ruleId };
    case 'no-consent':
      return {
        decision: 'stop',
        why: `Consent to ${decision.purpose} is missing.`,
        consent: viewConsent(decision.answers),
      };
    case 'global-stop':
      return { decision: 'globalStop', why: `The dispatch rule ${decision.category} stops it.` };
  }
}

/** An event of the view, in the form that rules read. */
export function resolvedOf(accountId: string, record: RecentEventRecord): ResolvedEvent {
  const member = (name: string): JsonObject => {
    const value = record.body[name];
    return isJsonObject(value) ? value : {};
  };
  const { integrations, consent } = record.body;
  const wanted = isJsonObject(integrations) ? Object.entries(integrations) : undefined;
  return {
    v: 1,
    event: {
      id: record.id,
      event: record.name,
      time: record.time.getTime(),
      received_at: record.receivedAt.getTime(),
      source_id: record.sourceId,
      account_id: accountId,
      test: record.test,
      ...(wanted && { integrations: Object.fromEntries(wanted.map(([name, value]) => [name, value !== false])) }),
      ...(isJsonObject(consent) && { consent: consent as ConsentWords }),
      event_properties: member('event_properties'),
      context: member('context'),
      ...(record.versionNumber === null ? {} : { version_number: record.versionNumber }),
    },
    visitor: { custom_properties: {}, ...member('visitor'), id: record.visitorId },
  };
}
