import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { experimentBody, experimentStatuses, experimentTypes } from '../../shared/experiments/experiment-bodies.ts';
import type { ExperimentStatus, ExperimentVariant } from '../../shared/experiments/experiment-bodies.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { entityFields } from '../collections/entity-schemas.ts';
import { readExperimentBody } from '../draft/experiment-rows.ts';

const instant = Type.String({ format: 'date-time' });
const { urlPatterns, queryRules, primaryMetric } = experimentBody.properties;

/** The status of an experiment in the platform library's spelling. */
export const libraryStatus = Type.Enum(experimentStatuses.map((status) => status.toLowerCase()));

/** The status that a word in that spelling stands for; undefined for an unknown word. */
export function statusOf(word: string): ExperimentStatus | undefined {
  return experimentStatuses.find((status) => status.toLowerCase() === word);
}

/** A variant in the platform library's shape. */
export const variantReply = Type.Object({
  id: Type.String(),
  experimentId: Type.String(),
  name: Type.String(),
  isControl: Type.Boolean(),
  weight: Type.Number({
    description: 'Percent of the visitors that take part. The control gets the rest.',
  }),
  variantType: nullable(Type.Literal('redirect')),
  redirectUrl: nullable(Type.String()),
  domModifications: Type.Null({
    description: 'Always null: Sluice does not change pages. Its variants have properties.',
  }),
  properties: Type.Record(Type.String(), Type.String(), {
    description: 'Sluice only: properties that the page reads to change its own content.',
  }),
});

const goal = Type.Object({ eventName: primaryMetric.anyOf[0].properties.event, funnelId: Type.Null() });

const targetingRules = Type.Object({
  urlPatterns,
  queryParams: Type.Array(
    Type.Object({
      key: queryRules.items.properties.parameter,
      operator: queryRules.items.properties.operator,
      value: nullable(Type.String()),
    }),
  ),
  audienceId: Type.Null(),
  visitorProperties: Type.Null(),
  visitorStatus: Type.Null(),
});

/** An experiment with its variants, in the platform library's shape. */
export const experimentReply = Type.Object({
  ...entityFields,
  key: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  type: Type.Enum([...experimentTypes]),
  status: libraryStatus,
  startedAt: nullable(instant),
  stoppedAt: nullable(instant),
  trafficAllocation: Type.Number(),
  includeQueryString: Type.Literal(false),
  winnerVariantId: nullable(Type.String()),
  rolloutVariantId: nullable(Type.String()),
  targetingRules,
  metrics: Type.Object({ primary: nullable(goal), secondary: Type.Array(goal, { maxItems: 0 }) }),
  variants: Type.Array(variantReply),
});

export function viewExperiment(
  row: ConfigEntityRow,
  variants: readonly ExperimentVariant[],
): Static<typeof experimentReply> {
  const body = readExperimentBody(row.body);
  const { name, key, description, type, trafficAllocation, winnerVariantId, rolloutVariantId } = body;
  return {
    id: row.id,
    key,
    name,
    description,
    type,
    status: body.status.toLowerCase(),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt?.toISOString() ?? null,
    startedAt: body.startedAt,
    stoppedAt: body.stoppedAt,
    trafficAllocation,
    includeQueryString: false,
    winnerVariantId,
    rolloutVariantId,
    targetingRules: {
      urlPatterns: body.urlPatterns,
      queryParams: body.queryRules.map(({ parameter, operator, value }) => ({
        key: parameter,
        operator,
        value: value ?? null,
      })),
      audienceId: null,
      visitorProperties: null,
      visitorStatus: null,
    },
    metrics: {
      primary: body.primaryMetric === null ? null : { eventName: body.primaryMetric.event, funnelId: null },
      secondary: [],
    },
    variants: variants.map((variant) => viewVariant(variant, variants)),
  };
}

/** Needs all `variants` of the experiment, because the control gets the percentage that the others leave. */
export function viewVariant(
  { id, experimentId, name, isControl, weight, redirect, properties }: ExperimentVariant,
  variants: readonly ExperimentVariant[],
): Static<typeof variantReply> {
  const ofOthers = variants.reduce((sum, other) => sum + (other.isControl ? 0 : (other.weight ?? 0)), 0);
  return {
    id,
    experimentId,
    name,
    isControl,
    weight: isControl ? Math.max(0, 100 - ofOthers) : (weight ?? 0),
    variantType: redirect === null ? null : 'redirect',
    redirectUrl: redirect,
    domModifications: null,
    properties,
  };
}
