import { readPlanSettings } from '../../../contracts/config/plan-settings.ts';
import { readEnvelope } from '../../../contracts/events/envelope.ts';
import type { Envelope } from '../../../contracts/events/envelope.ts';
import type { JsonObject } from '../../../runtime/json.ts';
import { compileTrackingPlan } from '../compile-tracking-plan.ts';
import type { PlanRule, PlannedEvent, TrackingPlanRules } from '../compile-tracking-plan.ts';

/** The fields of an envelope around its body. */
export const head = {
  v: 1,
  account: 'a',
  source: 's',
  at: 1,
  kind: 'track',
  id: 'i',
  ip: '192.0.2.1',
  ua: 'Browser',
} as const;

/** The envelope of a track event, `Bought` unless the body names another. */
export const envelopeOf = (body: JsonObject, own: Partial<Envelope> = {}): Envelope =>
  readEnvelope(JSON.stringify({ ...head, ...own, body: { event: 'Bought', ...body } }));

/** A rule that reports `event_properties.x` of any event. */
export const rule = (own: Partial<PlanRule>): PlanRule => ({
  id: 'r',
  isEnabled: true,
  severity: 'Warning',
  eventName: null,
  property: 'event_properties.x',
  type: 'Forbidden',
  expected: null,
  action: 'Report',
  ...own,
});

/** An approved event, `Bought` unless named otherwise. */
export const planned = (own: Partial<PlannedEvent>): PlannedEvent => ({
  id: 'p',
  name: 'Bought',
  status: 'Approved',
  action: 'Report',
  properties: [],
  ...own,
});

/** A plan of an account that published only these parts. */
export const planOf = (own: Partial<TrackingPlanRules>) =>
  compileTrackingPlan({
    rules: [],
    events: [],
    unreadable: [],
    settings: readPlanSettings(undefined),
    ...own,
  });

/** The verdict of a plan about an event. */
export const judge = (own: Partial<TrackingPlanRules>, envelope: Envelope, name = String(envelope.body.event)) =>
  planOf(own)?.judge(name, envelope);

/** An event with the property `x`. */
export const withX = (x: unknown) => envelopeOf({ eventProperties: { x } });
