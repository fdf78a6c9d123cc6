import { Type } from 'typebox';
import { pageContext } from './page.ts';

const visitor = {
  token: Type.String({
    minLength: 1,
    maxLength: 250,
    description: "The token of the account's experiment settings, or a source key of the account.",
  }),
  visitor_id: Type.String({ minLength: 1, maxLength: 400 }),
  context: Type.Optional(Type.Union([pageContext, Type.Null()])),
};

/** Body of a request for an assignment; unknown keys are ignored. */
export const assignmentBody = Type.Object({
  ...visitor,
  track_impression: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], {
      description: 'False reads the assignment and records no impression. Default true.',
    }),
  ),
});

export const personalizationBody = Type.Object(visitor);

/** The answer for a visitor in the experiment, and for one who is not. */
export const assignmentReply = Type.Union([
  Type.Object({
    success: Type.Literal(true),
    in_experiment: Type.Literal(true),
    experiment_id: Type.String(),
    experiment_key: Type.String(),
    experiment_name: Type.String(),
    variant_id: Type.String(),
    variant_name: Type.String(),
    is_control: Type.Boolean(),
    type: Type.Enum(['ab', 'multivariate', 'personalization']),
    redirect: Type.Optional(Type.String()),
  }),
  Type.Object({ success: Type.Literal(true), in_experiment: Type.Literal(false) }),
]);

export const personalizationReply = Type.Object({
  success: Type.Literal(true),
  properties: Type.Record(Type.String(), Type.String()),
  personalizations: Type.Array(
    Type.Object({
      experiment_id: Type.String(),
      experiment_key: Type.String(),
      experiment_name: Type.String(),
      variant_id: Type.String(),
      variant_name: Type.String(),
      assigned_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'Null where nothing is stored: of personalizations, which are always on, and of rollouts.',
      }),
    }),
    { description: "The visitor's variants, whose properties these are; where two name the same one the later wins." },
  ),
});

export const failureReply = Type.Object({ success: Type.Literal(false) });
