import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField, nameField, nullable, references } from './define.ts';

const propertiesMax = 200;

const body = Type.Object({
  experimentId: Type.String({ minLength: 1, maxLength: 64 }),
  name: nameField,
  description: descriptionField,
  /** Share among the experiment's variants: its weight over the sum of all. */
  weight: Type.Number({ minimum: 0, maximum: 1_000_000 }),
  isControl: Type.Boolean(),
  /** Where its visitors are sent. */
  redirect: nullable(Type.String({ minLength: 1, maxLength: 2_048 })),
  /** What personalization gives its visitors. */
  properties: Type.Record(Type.String(), Type.String({ maxLength: 4_000 })),
});

export type ExperimentVariantBody = Static<typeof body>;

export const experimentVariants = defineCollection({
  name: 'experimentVariants',
  noun: 'experiment variant',
  body,
  defaults: { description: null, weight: 1, isControl: false, redirect: null, properties: {} },
  filters: ['experimentId'],
  references: [references('experimentId', 'experiments')],
  check: (variant) => {
    const { properties } = variant as ExperimentVariantBody;
    const problem = `must have at most ${propertiesMax} keys`;
    return Object.keys(properties).length > propertiesMax ? [{ field: 'properties', problem }] : [];
  },
  describe: (variant) => {
    const { weight, isControl } = variant as ExperimentVariantBody;
    return { type: isControl ? 'control' : 'variant', summary: `weight ${weight}` };
  },
});
