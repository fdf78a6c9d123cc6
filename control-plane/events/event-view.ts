import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { consentLayers } from '../../shared/routing/consent/purpose-answer.ts';
import type { PurposeAnswer } from '../../shared/routing/consent/purpose-answer.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Position } from '../api/pagination.ts';
import { platformErrorReply, viewPlatformError } from '../destinations/exchange-view.ts';
import type { PlanRecord, RecentEventRecord } from './recent-events.ts';

const instant = Type.String({ format: 'date-time' });
const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** The outcomes of an event at a destination. */
export const outcomeNames = ['delivered', 'retrying', 'rejected', 'stopped', 'globalStop'] as const;

/** The decisions of a tracking plan about an event. */
export const planOutcomes = ['reported', 'changed', 'quarantined', 'dropped'] as const;

const planReply = Type.Object(
  {
    outcome: Type.Enum([...planOutcomes], {
      description:
        'changed: a rule omitted or redacted a part of the event. quarantined, dropped: the event was not sent, and its content is not shown here. ' +
        'A test event is processed in any case; its outcome is the one that a live event would have had.',
    }),
    rules: Type.Array(
      Type.Object({
        rule: Type.String({ description: 'Id of a rule or of an event of the plan, or the name of a built-in rule.' }),
        action: Type.String(),
        property: nullable(Type.String({ description: 'Path of the property that the rule is about.' })),
      }),
      { description: 'Rules that it broke, at most 10; the deciding rule comes first.' },
    ),
    reason: Type.String({ description: 'In words.' }),
  },
  {
    description:
      "The tracking plan's decision; null if the event broke no rule, or (unless it is a test event) only rules that report.",
  },
);

/** The answer that decided whether a purpose is granted. */
export const consentAnswer = Type.Object({
  purpose: Type.String(),
  isGranted: Type.Boolean(),
  layer: Type.Enum([...consentLayers], {
    description:
      "The first of these that decides: the event's own consent, its visitor's, a signal, the purpose's default. withdrawal: granted with the event, and withdrawn since.",
  }),
  detail: nullable(
    Type.String({
      description: 'For a signal, its name. For a default, the region, such as US-CA, or unknown.',
    }),
  ),
});

export const viewConsent = (answers: readonly PurposeAnswer[]): JsonObject[] =>
  answers.map((answer) => ({ ...answer, detail: answer.detail ?? null }));

/** An event as the recent-events view shows it. */
export const eventReply = Type.Object({
  id: Type.String({ description: "The event's own id: its distinctId, or an id that the service created." }),
  event: Type.String({ description: "The event's name." }),
  time: Type.Number({ description: 'When it happened, in ms since the epoch. The list is ordered by it.' }),
  receivedAt: instant,
  sourceId: Type.String(),
  visitorId: Type.String({
    description:
      'The visitor it belonged to then; an alias if that was merged since. Empty for an event that the tracking plan quarantined or dropped.',
  }),
  test: Type.Boolean({ description: 'Sent with a test-mode key: never dispatched.' }),
  versionNumber: nullable(
    Type.Integer({ description: 'The version that was live when the event was processed; null if unknown.' }),
  ),
  sampleOf: Type.Integer({
    description: 'How many events this one represents: more than 1 when the account sent more than the view stores.',
  }),
  eventProperties: object('The content of the event.'),
  context: object('Where it came from: page, browser, campaign.'),
  visitor: object('The visitor as it was after this event.'),
  truncated: Type.Boolean({
    description: 'Whether properties were left out because the event is too large for the view.',
  }),
  plan: nullable(planReply),
  outcomes: Type.Array(
    Type.Object({
      destinationId: Type.String(),
      outcome: Type.Enum([...outcomeNames]),
      reason: nullable(Type.String()),
      attempts: Type.Integer({ minimum: 0 }),
      versionNumber: nullable(
        Type.Integer({
          description: 'The version that decided this outcome: the version that was live at that attempt.',
        }),
      ),
      consent: nullable(Type.Array(consentAnswer, { description: 'The consent answers that stopped it.' })),
      error: nullable(platformErrorReply),
      at: instant,
    }),
    { description: 'Its outcome at each destination so far.' },
  ),
});

/** The members of an event that contain values of a person. */
export const eventMembers = ['eventProperties', 'context', 'visitor'] as const;

export function viewEvent(record: RecentEventRecord): JsonObject {
  const { body } = record;
  return {
    id: record.id,
    event: record.name,
    time: record.time.getTime(),
    receivedAt: record.receivedAt.toISOString(),
    sourceId: record.sourceId,
    visitorId: record.visitorId,
    test: record.test,
    versionNumber: record.versionNumber,
    sampleOf: record.sampleOf,
    eventProperties: objectOf(body['event_properties']),
    context: objectOf(body['context']),
    visitor: objectOf(body['visitor']),
    truncated: body['truncated'] === true,
    plan: record.plan === null ? null : viewPlan(record.plan, record.test),
    outcomes: record.outcomes.map((outcome) => ({
      ...outcome,
      consent: outcome.consent === null ? null : viewConsent(outcome.consent),
      error: viewPlatformError(outcome.error ?? undefined),
      at: new Date(outcome.at).toISOString(),
    })),
  };
}

const planWords = {
  reported: 'It broke rules that only report.',
  changed: 'Properties were omitted or redacted.',
  quarantined: 'It was quarantined.',
  dropped: 'It was dropped.',
} as const;
const testWords = {
  ...planWords,
  quarantined: 'A live event would have been quarantined.',
  dropped: 'A live event would have been dropped.',
} as const;

function viewPlan({ outcome, rules }: PlanRecord, isTest: boolean): JsonObject {
  const [first] = rules;
  const by =
    first === undefined ? '' : ` Rule ${first.rule}${first.property === undefined ? '' : ` on ${first.property}`}.`;
  return {
    outcome,
    rules: rules.map(({ rule, action, property }) => ({ rule, action, property: property ?? null })),
    reason: `${(isTest ? testWords : planWords)[outcome]}${by}`,
  };
}

/** The position of an event in the list. */
export function eventPosition(record: RecentEventRecord): Position {
  return [record.time.getTime(), record.id, record.origin];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
