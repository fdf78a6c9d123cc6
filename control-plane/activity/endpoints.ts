import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { defineService } from '../api/services.ts';
import { liveValues } from '../health/live-values.ts';
import { logFigures } from '../health/log-figures.ts';
import { funnelFields } from '../health/funnel-fields.ts';
import { healthReply } from '../health/summarize-health.ts';
import { accessRefusedReply } from '../health/view-sending.ts';
import type { PolledFeeds } from '../api/polled-feeds.ts';
import { invalidReply } from '../sources/source-view.ts';
import { leases } from '../publishing/publishing-service.ts';
import { versionReply } from '../versions/version-view.ts';
import { destinationStates, listDestinationActivity } from './list-destination-activity.ts';
import { endsMax, listConnections } from './list-connections.ts';
import { activityRanges, readActivity } from './read-activity.ts';
import type { ActivityQuery, ActivityRange } from './read-activity.ts';

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });
const perStep = (description: string) => Type.Array(count, { description: `${description}, step by step.` });
const outcomes = Type.Object({ succeeded: count, failed: count, stopped: count, blocked: count });

const destinationFields = {
  id: Type.String(),
  name: Type.String({ description: 'Its name, or the name of its kind if it has none.' }),
  type: Type.String(),
  label: Type.String({ description: 'The name of its kind.' }),
  status: Type.String(),
  isLive: Type.Boolean({ description: 'Whether the live version contains it and it is enabled there.' }),
  health: healthReply,
  isAccessRefused: accessRefusedReply,
  lately: { ...outcomes, description: 'In the last 15 minutes.' },
  backlog: Type.Object({ waitingFrames: count, retryingFrames: count, deadLetters: count }),
  warnings: Type.Array(Type.String(), { description: 'Warnings about its live settings.' }),
};

const activityReply = Type.Object({
  range: Type.Enum(Object.keys(activityRanges) as ActivityRange[]),
  firstStepAt: instant,
  stepMs: Type.Integer({ description: 'Length of a step, in ms. The last step is not over yet.' }),
  steps: count,
  totals: Type.Object(
    {
      problems: count,
      sources: count,
      liveSources: count,
      sendingSources: { ...count, description: 'Sources with events in the range.' },
      usedSources: {
        ...count,
        description: 'Sources of which an event was stored or delivered, test events included.',
      },
      events: count,
      refused: count,
      destinations: count,
      liveDestinations: count,
      succeeded: { ...count, description: 'Attempts that succeeded.' },
      failed: { ...count, description: 'Attempts that failed.' },
    },
    { description: 'Totals of the whole account in the range, whatever `top` is.' },
  ),
  problems: Type.Array(
    Type.Object({
      level: Type.Enum(['bad', 'warn']),
      kind: Type.Enum(['destination', 'source', 'resolver', 'process', 'rule']),
      id: nullable(Type.String()),
      name: Type.String(),
      text: Type.String(),
    }),
    { description: 'Problems that need attention, the worst first.' },
  ),
  sources: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String({ description: 'Its name, or the name of its type if it has none.' }),
      type: Type.String(),
      label: Type.String({ description: 'The name of its type.' }),
      isLive: Type.Boolean(),
      events: perStep('Events that gateways accepted and stored'),
      total: count,
      testTotal: { ...count, description: 'Events sent with the test key. The other counts leave them out.' },
      refused: Type.Object(
        {
          lost: { ...count, description: 'Events that the log did not store; the sender was asked to retry.' },
          invalid: { ...count, description: 'Events with a missing or invalid field.' },
          limited: {
            ...count,
            description:
              'Events over the rate limit of their key, or rejected because waiting events of the account are too old or too many.',
          },
          forbidden: {
            ...count,
            description:
              'Events from a page or address outside the whitelists of the source, or without a valid signature.',
          },
        },
        { description: 'Rejected events, by reason. Requests without a known key belong to no source.' },
      ),
      lastInvalid: nullable(invalidReply),
      lastTriggeredAt: nullable(instant),
    }),
  ),
  destinations: Type.Array(
    Type.Object({
      ...destinationFields,
      inRange: outcomes,
      succeeded: perStep('Attempts that succeeded'),
      failed: perStep('Attempts that failed'),
    }),
  ),
  oldestUnresolvedMs: nullable(
    Type.Number({ description: 'How long the oldest unresolved event of any account has waited, in ms.' }),
  ),
  resolveLagMs: Type.Array(nullable(Type.Number({ minimum: 0 })), {
    description:
      'The longest wait of an event before it was resolved, in ms, per step; null if no pipeline measured it.',
  }),
  gateways: { ...count, description: 'Gateways that are alive.' },
  pipelines: { ...count, description: 'Pipelines that are alive.' },
  live: nullable(versionReply),
  draftChanges: count,
});

const entityFields = {
  id: Type.String(),
  name: Type.String({ description: 'Its name, or the name of its kind if it has none.' }),
  label: Type.String({ description: 'The name of its kind.' }),
  isEnabled: Type.Boolean(),
};

const sourceEnd = Type.Object({
  ...entityFields,
  events: { ...count, description: 'Events that gateways stored in the last 24 hours.' },
});

const destinationEnd = Type.Object({
  ...entityFields,
  health: { ...healthReply.properties.status, description: 'Health of the last 24 hours.' },
  isAccessRefused: accessRefusedReply,
});

const connectionsReply = Type.Object({
  ...pageOf(
    Type.Object({
      source: sourceEnd,
      destination: destinationEnd,
      isAllowed: Type.Boolean({
        description:
          'Whether the live destination accepts events of the source. If it no longer does, the connection is listed while its events still count.',
      }),
      ...funnelFields,
    }),
  ).properties,
  since: { ...instant, description: 'Events received at this time or later are counted.' },
  totals: Type.Object(
    { sources: count, destinations: count },
    { description: 'Enabled sources and destinations of the live version.' },
  ),
  sources: Type.Array(sourceEnd, { description: `The oldest ${endsMax} sources, with or without a connection.` }),
  destinations: Type.Array(destinationEnd, {
    description: `The oldest ${endsMax} destinations, with or without a connection.`,
  }),
});

const range = Type.Optional(
  Type.Enum(Object.keys(activityRanges) as ActivityRange[], {
    default: '15m',
    description: 'Length of the range, which ends now.',
  }),
);

const top = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'Maximum number of problems, of destinations (the most urgent first) and of sources (the busiest first). Default: ' +
      'no maximum; with thousands of destinations, the reply is several megabytes long.',
  }),
);

/** Account, range, and maximum number of entries of an overview. */
export type ActivityKey = ActivityQuery & { readonly accountId: string };

export const activityFeeds = defineService<PolledFeeds<ActivityKey, unknown>>('activity feeds');

export const activityEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/activity',
    scope: 'activity:find',
    id: 'getActivity',
    uses: { leases, liveValues, logFigures },
    tag: 'Activity',
    summary: 'Events received by source, events sent by destination, and open problems',
    query: Type.Object({ range, top }),
    reply: activityReply,
    handle: ({ query, principal }, services) =>
      readActivity(services, principal.accountId, { range: query.range ?? '15m', top: query.top }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/activity/destinations',
    scope: 'activity:find',
    id: 'listDestinationActivity',
    uses: { liveValues, logFigures },
    tag: 'Activity',
    summary:
      'Destinations of the draft and the live version with their health and backlog, the most urgent first. The order ' +
      'changes with their health: across pages a destination may be listed twice or not at all',
    query: Type.Object({
      ...pageQuery,
      id: Type.Optional(Type.String({ maxLength: 100, description: 'Only this destination.' })),
      nameContains: Type.Optional(
        Type.String({ maxLength: 250, description: 'Text in its name or the name of its kind, ignoring case.' }),
      ),
      state: Type.Optional(
        Type.Enum([...destinationStates], {
          description: 'off: not in the live version, or disabled there. failing: live, and failing or with a backlog.',
        }),
      ),
    }),
    reply: Type.Object({
      ...pageOf(Type.Object(destinationFields)).properties,
      total: { ...count, description: 'Destinations that the filters select.' },
    }),
    handle: ({ query, principal }, services) => listDestinationActivity(services, principal.accountId, query),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/activity/connections',
    scope: 'activity:find',
    id: 'listConnections',
    uses: { liveValues },
    tag: 'Activity',
    summary:
      'Which live source feeds which live destination, and the outcomes of its events in the last 24 hours. For each ' +
      'destination a pipeline counts at most 20 sources separately',
    query: Type.Object(pageQuery),
    reply: connectionsReply,
    handle: ({ query, principal }, services) => listConnections(services, principal.accountId, query),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/activity/stream',
    scope: 'activity:find',
    id: 'followActivity',
    uses: { activityFeeds },
    tag: 'Activity',
    summary: 'Events received by source, events sent by destination, and open problems, sent again after each change',
    query: Type.Object({ range, top }),
    streams: true,
    reply: activityReply,
    handle: async ({ query, principal }, { activityFeeds }) =>
      activityFeeds.of({ accountId: principal.accountId, range: query.range ?? '15m', top: query.top }),
  }),
];
