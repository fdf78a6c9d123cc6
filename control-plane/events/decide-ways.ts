import { Type } from 'typebox';
import { readLiveConfig } from '../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../shared/collections/read-live-collections.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { nullable, textOf } from '../../shared/contracts/config/define-collection.ts';
import { SecretError } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { ConsentWords } from '../../shared/contracts/events/consent-words.ts';
import { headOf } from '../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { namesElsewhere } from '../../shared/destinations/registry.ts';
import { withLimitedData } from '../../shared/destinations/limit-data.ts';
import { compileAllowedData } from '../../shared/routing/allowed-data.ts';
import { compileDispatchPlan } from '../../shared/routing/dispatch-plan.ts';
import type { Decision } from '../../shared/routing/dispatch-plan.ts';
import { publishedDestinations } from '../../shared/routing/published-destinations.ts';
import type { PublishedDestination } from '../../shared/routing/published-destinations.ts';
import { PlanError } from '../../shared/routing/values/plan-error.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ApiError } from '../api/api-error.ts';
import { sealerFor } from '../destinations/destination-view.ts';
import { prepareDestination } from '../destinations/prepare-destination.ts';
import { previewRequest } from '../destinations/run-test.ts';
import { consentAnswer, viewConsent } from './event-view.ts';
import { endedAtPlan } from './recent-events.ts';
import type { RecentEventRecord } from './recent-events.ts';

const text = Type.String();

/** What the rules say of one event at one destination. */
export const wayReply = Type.Object({
  destinationId: text,
  name: text,
  type: text,
  decision: Type.Enum(['send', 'skip', 'stop', 'globalStop', 'broken'], {
    description: 'skip: it is not for this destination. broken: the destination or its rules cannot be used, see why.',
  }),
  why: Type.String({ description: 'In words.' }),
  consent: nullable(Type.Array(consentAnswer, { description: 'Where consent stops or limits it: what decides.' })),
  ruleId: nullable(Type.String({ description: 'The mapping that decided, where one did.' })),
  eventName: nullable(Type.String({ description: 'What it is called there.' })),
  properties: nullable(
    Type.Record(Type.String(), Type.Unknown(), { description: 'What a mapping makes of it; null: all of them.' }),
  ),
  waiting: nullable(
    Type.String({
      description:
        'Of a destination without an outcome that the live rules send it to: why it waits there, as far as that is known.',
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

/** The members that hold values of a person. */
export const wayMembers = ['properties', 'url', 'headers', 'body'] as const;

export type WaysAsked = {
  readonly accountId: string;
  readonly snapshot: Snapshot;
  readonly record: RecentEventRecord;
  readonly destinationId: string | undefined;
  readonly secretBox: SecretBox;
  readonly nowMs: number;
};

const skipReasons = {
  test: 'It was sent with a test key: those are never dispatched.',
  not_allowed: 'Its name is not among the allowed events of this destination.',
  disabled: 'The destination is off.',
  source: 'The destination takes events of other sources only.',
  integrations: 'Its sender leaves this destination out, in `integrations`.',
} as const;

/**
 * Asks the rules of a snapshot about an event, as dispatchers do. Of one destination the request is shown as well. What
 * the view has left out of a large event the rules do not see.
 */
export function decideWays(asked: WaysAsked): JsonObject[] {
  const { accountId, snapshot, destinationId } = asked;
  const config = readLiveConfig({
    format: 1,
    accountId,
    versionId: '',
    versionNumber: 0,
    publishedAt: '',
    sourceKeys: [],
    collections: snapshot,
  });
  const wanted = publishedDestinations(config).filter(({ id }) => destinationId === undefined || id === destinationId);
  return wanted.map((destination) => {
    const entity = snapshot.destinations.find(({ id }) => id === destination.id);
    const way = decideWay(config, destination, asked);
    return { destinationId: destination.id, name: textOf(entity?.['name']), type: destination.type, ...way };
  });
}

type Way = Readonly<
  Record<'decision' | 'why' | 'consent' | 'waiting' | 'ruleId' | 'eventName' | 'properties' | 'request', unknown>
>;

const nothing = {
  consent: null,
  waiting: null,
  ruleId: null,
  eventName: null,
  properties: null,
  request: null,
} as const;

function decideWay(config: LiveConfig, destination: PublishedDestination, asked: WaysAsked): Way {
  if (endedAtPlan(asked.record)) {
    return {
      ...nothing,
      decision: 'skip',
      why: 'The tracking plan quarantined or dropped it: it has not come this far.',
    };
  }
  const resolved = resolvedOf(asked.accountId, asked.record);
  try {
    const decision = compileDispatchPlan(config, destination, namesElsewhere(destination.type)).decide(
      headOf(resolved),
      resolved,
    );
    if (decision.kind !== 'send') return { ...nothing, ...explainStop(decision) };
    const { ruleId, mapped, limitedBy } = decision;
    const isLimited = limitedBy !== undefined;
    const limit = compileAllowedData(config.collections.externalAllowedEventData);
    const { event } = resolved.event;
    const sent = {
      ...nothing,
      decision: 'send',
      why: `${mapped === undefined ? 'No mapping matches: it is sent as it is' : 'A mapping decides what is sent'}${isLimited ? ', for limited use only.' : '.'}`,
      consent: limitedBy === undefined ? null : viewConsent(limitedBy.answers),
      ruleId: ruleId ?? null,
      eventName: mapped?.eventName ?? resolved.event.event,
      properties: mapped === undefined ? null : (limit?.(event, mapped.properties) ?? mapped.properties),
    };
    if (asked.destinationId === undefined) return sent;
    const sealer = sealerFor(asked.secretBox, asked.accountId, destination.id);
    const ready = prepareDestination(destination.type, destination.settings, sealer);
    const prepared = limit === undefined ? ready.prepared : withLimitedData(ready.prepared, limit);
    const preview = previewRequest({ ...ready, prepared }, { resolved, mapped, isLimited }, asked.nowMs);
    if (typeof preview === 'string') return { ...sent, decision: 'broken', why: preview };
    return { ...sent, request: preview };
  } catch (error) {
    if (error instanceof PlanError || error instanceof ApiError || error instanceof SecretError) {
      return { ...nothing, decision: 'broken', why: error.message };
    }
    throw error;
  }
}

function explainStop(
  decision: Exclude<Decision, { kind: 'send' }>,
): Pick<Way, 'decision' | 'why'> & { ruleId?: string; consent?: JsonObject[] } {
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

function resolvedOf(accountId: string, record: RecentEventRecord): ResolvedEvent {
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
