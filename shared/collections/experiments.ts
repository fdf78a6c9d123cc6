import { RE2JS } from 're2js';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField, nameField, nullable, references, textOf } from './define.ts';

const queryRule = Type.Object(
  {
    parameter: Type.String({ minLength: 1, maxLength: 250 }),
    operator: Type.Enum(['equals', 'contains', 'exists', 'not_exists', 'not_equals', 'regex']),
    value: nullable(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
);

const body = Type.Object({
  name: nameField,
  /** What callers name it by; it never changes. */
  key: Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }),
  description: descriptionField,
  type: Type.Enum(['ab', 'multivariate', 'personalization']),
  /** A draft never enters a version. */
  status: Type.Enum(['Draft', 'Running', 'Paused', 'Completed']),
  /** Share of visitors that take part, in percent. */
  trafficAllocation: Type.Number({ minimum: 0, maximum: 100 }),
  /** Pages it runs on: `*` within a path segment, `**` across segments. Empty is everywhere. */
  urlPatterns: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), { maxItems: 100 }),
  /** All must hold of the page's query. */
  queryRules: Type.Array(queryRule, { maxItems: 100 }),
  /** The variant everybody gets once it is completed. */
  rolloutVariantId: nullable(Type.String({ minLength: 1, maxLength: 64 })),
});

export type ExperimentBody = Static<typeof body>;

export const experiments = defineCollection({
  name: 'experiments',
  noun: 'experiment',
  uniqueFields: ['key'],
  body,
  defaults: {
    description: null,
    type: 'ab',
    status: 'Draft',
    trafficAllocation: 100,
    urlPatterns: [],
    queryRules: [],
    rolloutVariantId: null,
  },
  fixed: ['key'],
  filters: ['status', 'type', 'key'],
  references: [references('rolloutVariantId', 'experimentVariants')],
  check: (experiment) =>
    (experiment as ExperimentBody).queryRules.flatMap(({ operator, value }, index) => {
      const problem = ruleProblem(operator, value);
      return problem === undefined ? [] : [{ field: `queryRules[${index}].value`, problem }];
    }),
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});

function ruleProblem(operator: string, value: string | null): string | undefined {
  if (operator === 'exists' || operator === 'not_exists') return undefined;
  if (value === null) return `is required for ${operator}`;
  if (operator !== 'regex') return undefined;
  try {
    RE2JS.compile(value);
    return undefined;
  } catch {
    return 'must be an RE2 expression: no look-around and no back-references';
  }
}
