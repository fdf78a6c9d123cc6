import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { experimentBody } from '../../shared/experiments/experiment-bodies.ts';
import { badRequest } from '../api/api-error.ts';

const { name, description, trafficAllocation, urlPatterns, queryRules, primaryMetric } = experimentBody.properties;

const notOurs = Type.Optional(Type.Unknown({ description: 'Not part of Sluice: refused unless it is empty.' }));

const goal = Type.Object(
  { eventName: Type.Optional(nullable(primaryMetric.anyOf[0].properties.event)), funnelId: notOurs },
  { additionalProperties: false },
);

const queryParam = Type.Object(
  {
    key: queryRules.items.properties.parameter,
    operator: queryRules.items.properties.operator,
    value: Type.Optional(nullable(queryRules.items.properties.value)),
  },
  { additionalProperties: false },
);

/** Fields that the platform library sends both to create and to change an experiment. */
export const experimentFields = {
  description: Type.Optional(description),
  trafficAllocation: Type.Optional(nullable(trafficAllocation)),
  includeQueryString: Type.Optional(
    nullable(Type.Boolean({ description: 'Not part of Sluice: refused if it is true.' })),
  ),
  targetingRules: Type.Optional(
    nullable(
      Type.Object(
        {
          urlPatterns: Type.Optional(urlPatterns),
          queryParams: Type.Optional(nullable(Type.Array(queryParam, { maxItems: 20 }))),
          audienceId: notOurs,
          visitorProperties: notOurs,
          visitorStatus: notOurs,
        },
        { additionalProperties: false },
      ),
    ),
  ),
  metrics: Type.Optional(
    nullable(
      Type.Object(
        { primary: Type.Optional(nullable(goal)), secondary: Type.Optional(nullable(Type.Array(goal))) },
        { additionalProperties: false },
      ),
    ),
  ),
};

const fieldsSchema = Type.Object({ ...experimentFields, name: Type.Optional(nullable(name)) });

/**
 * Translates the fields that the library sends; nested objects replace the stored ones, as it expects. Throws a 400 that
 * names a field that is not part of Sluice.
 */
export function givenExperimentFields(fields: Static<typeof fieldsSchema>): JsonObject {
  const { targetingRules, metrics, trafficAllocation: percent, name: text } = fields;
  refuseNotOurs(fields);
  return {
    ...(text === undefined || text === null ? {} : { name: text }),
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(percent === undefined || percent === null ? {} : { trafficAllocation: percent }),
    ...(targetingRules === undefined
      ? {}
      : {
          urlPatterns: targetingRules?.urlPatterns ?? [],
          queryRules: (targetingRules?.queryParams ?? []).map(({ key, operator, value }) => ({
            parameter: key,
            operator,
            ...(value === undefined || value === null ? {} : { value }),
          })),
        }),
    ...(metrics === undefined ? {} : { primaryMetric: metricOf(metrics?.primary?.eventName) }),
  };
}

function metricOf(eventName: string | null | undefined): JsonObject | null {
  return eventName === undefined || eventName === null ? null : { event: eventName };
}

function refuseNotOurs({ includeQueryString, targetingRules, metrics }: Static<typeof fieldsSchema>): void {
  const notSupported: Readonly<Record<string, unknown>> = {
    includeQueryString,
    'targetingRules.audienceId': targetingRules?.audienceId,
    'targetingRules.visitorProperties': targetingRules?.visitorProperties,
    'targetingRules.visitorStatus': targetingRules?.visitorStatus,
    'metrics.primary.funnelId': metrics?.primary?.funnelId,
    'metrics.secondary': metrics?.secondary,
  };
  const said = Object.entries(notSupported).find(([, value]) => saysSomething(value));
  if (said !== undefined) throw badRequest(`${said[0]} is not part of Sluice`);
}

/** Whether a value is not empty. Clients send back the empty values that they read. */
function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
