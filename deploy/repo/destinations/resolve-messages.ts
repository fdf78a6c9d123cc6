import { posthogCapture } from '../../../gateway/routes/compat/posthog.ts';
import { specBatch } from '../../../gateway/routes/compat/spec-message.ts';
import { readEvent } from '../../../pipeline/workers/resolve/read-event.ts';
import { readTouch } from '../../../pipeline/workers/resolve/read-touch.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { encodeEventParts } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { planVisitors } from '../../../shared/visitors/plan-visitors.ts';

const rules = {
  botControl: { mode: 'Allow', threshold: 70 },
  excludeRequestContext: false,
  isVisitorsConnection: false,
  keyTrust: 'server',
} as const;

/**
 * The events into which gateway and resolver turn messages of one source, in order. Messages with a `distinct_id` come
 * from PostHog's library, all others follow the event specification. Throws UntranslatableMessageError.
 */
export function resolveMessages(messages: readonly JsonObject[], arrivalMs: number): readonly ResolvedEvent[] {
  return resolveEnvelopes(messages.map((message) => envelopeOf(message, arrivalMs)));
}

/** The event into which the resolver turns a payload of our own API; undefined if the payload gives no event. */
export function resolveNative(kind: Envelope['kind'], body: JsonObject, arrivalMs: number): ResolvedEvent | undefined {
  return resolveEnvelopes([{ v: 1, kind, id: 'm0', account: 'account', source: 'source', at: arrivalMs, body }])[0];
}

/** A message that the gateway rejects. */
export class UntranslatableMessageError extends Error {
  readonly code = 'message_untranslatable';
}

function resolveEnvelopes(envelopes: readonly Envelope[]): readonly ResolvedEvent[] {
  const { outcomes } = planVisitors(
    envelopes.map((envelope) => readTouch(envelope, rules.keyTrust).touch),
    () => ({ visitor: () => undefined, identity: () => undefined, erasure: () => undefined }),
    { propertiesBytesMax: 32_768, newVisitorId: () => 'new-visitor' },
  );
  return envelopes.map((envelope, index) => resolvedOf(envelope, outcomes[index]));
}

function envelopeOf(message: JsonObject, arrivalMs: number): Envelope {
  const dialect = 'distinct_id' in message ? posthogCapture : specBatch;
  const arrival = { atMs: arrivalMs, timeWindow: { pastMsMax: 604_800_000, aheadMsMax: 300_000 } };
  const translation = dialect.translate(message, {}, arrival);
  if ('problem' in translation) throw new UntranslatableMessageError(translation.problem);
  const { kind, id = 'no-id', body } = translation;
  // The log holds JSON, which has no undefined members.
  const json = JSON.parse(JSON.stringify(body)) as JsonObject;
  return { v: 1, kind, id, account: 'account', source: 'source', at: arrivalMs, body: json };
}

type Outcome = ReturnType<typeof planVisitors>['outcomes'][number];

function resolvedOf(envelope: Envelope, outcome: Outcome | undefined): ResolvedEvent {
  if (outcome?.kind !== 'resolved') throw new Error(`the visitor is ${outcome?.kind ?? 'missing'}`);
  const { name, timeMs, properties, context, integrations } = readEvent(envelope, rules);
  const json = encodeEventParts({
    id: envelope.id,
    event: name,
    time: timeMs,
    received_at: envelope.at,
    source_id: envelope.source,
    account_id: envelope.account,
    test: false,
    integrations,
    event_properties: JSON.parse(properties.before) as JsonObject,
    context: JSON.parse(context.before) as JsonObject,
  });
  const event = JSON.parse(json) as ResolvedEvent['event'];
  return { v: 1, event, visitor: { custom_properties: {}, ...outcome.properties.value, id: outcome.id } };
}
