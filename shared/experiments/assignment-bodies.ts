import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import { pageContext } from './page.ts';
import type { JsonObject } from '../runtime/json.ts';

const visitor = {
  token: Type.String({
    minLength: 1,
    maxLength: 250,
    description: "The token of the account's experiment settings, or a source key of the account.",
  }),
  visitor_id: Type.String({
    minLength: 1,
    maxLength: 400,
    description: 'A placeholder such as "anonymous" is no visitor, and in no experiment.',
  }),
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

/** Body of a request for all experiments of a visitor as flags; unknown keys are ignored. */
export const flagsBody = Type.Object({
  token: visitor.token,
  visitor_id: visitor.visitor_id,
  keys: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1_000,
      description: 'Keys of experiments. Default: all running experiments.',
    }),
  ),
});

/** The answer to a request for flags. */
export const flagsReply = Type.Object({
  success: Type.Literal(true),
  flags: Type.Record(Type.String(), Type.Union([Type.String(), Type.Literal(false)]), {
    description: "By the experiment's key: the name of the visitor's variant, or false if the visitor is in none.",
  }),
});

/** The answer for a visitor in the experiment, or for a visitor who is not. */
const assignmentReply = Type.Union([
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

const personalizationReply = Type.Object({
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
        description:
          'Null unless this variant is stored: rollouts and personalizations, which are always on, need no assignment.',
      }),
    }),
    {
      description:
        "The visitor's variants, which set these properties; if two set the same property, the later one wins.",
    },
  ),
});

const failureReply = Type.Object({ success: Type.Literal(false) });

/** The differences between the services that serve experiments. */
type ServedExperiments = {
  /** The prefix of the service's paths. */
  readonly prefix: string;
  /** The name of the path parameter that holds the experiment's key. */
  readonly keyName: string;
  /** Path of flags, if they are served. */
  readonly flagsPath?: string;
  /** Members of each operation in addition to the common ones. */
  readonly members: JsonObject;
  /** Additional errors, by status. */
  readonly failures: Readonly<Record<number, string>>;
};

const failures: Readonly<Record<number, string>> = {
  400: 'The body is not JSON, lacks a field, has one of the wrong type, or names a page that takes too long to check.',
  401: 'No published version has this token.',
  403: 'The page is not one of the whitelistDomains of the experiment settings or, with a source key, the source does not list the page or the address.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is neither application/json nor text/plain.',
  429: 'The account exceeds a rate limit: of visitors, first assignments, impressions, or work for checking pages. Try again after Retry-After seconds.',
  503: 'Experiments cannot be served now; try again after Retry-After seconds.',
};

/** The endpoints of experiments, by path, as an OpenAPI document shows them. */
export function describeAssignments(served: ServedExperiments): Readonly<Record<string, JsonObject>> {
  const { prefix, keyName, flagsPath } = served;
  return {
    [`${prefix}/experiments/assignments/{${keyName}}`]: {
      post: {
        ...describe(served, 'assignVariant', "A visitor's variant of an experiment", [assignmentBody, assignmentReply]),
        description:
          'Deterministic on visitor_id, and sticky: the first assignment is stored with the visitor, while the account has room for more. Records a ' +
          '`$experiment_impression` event unless track_impression is false. A visitor who is not in the experiment, also ' +
          'because no such experiment runs, gets a 200 with `in_experiment: false`. Follows the published version. ' +
          'In a process that assigned the visitor before, an erasure or a merge takes effect within half a minute.',
        parameters: [
          {
            name: keyName,
            in: 'path',
            required: true,
            description: "The experiment's key.",
            schema: { type: 'string' },
          },
        ],
      },
    },
    [`${prefix}/experiments/personalization`]: {
      post: {
        ...describe(served, 'personalize', "The properties of a visitor's variants", [
          personalizationBody,
          personalizationReply,
        ]),
        description: 'Read-only: makes no assignment and records no event.',
      },
    },
    ...(flagsPath === undefined
      ? {}
      : {
          [flagsPath]: {
            post: {
              ...describe(served, 'flags', "A visitor's variants of all running experiments, as flags", [
                flagsBody,
                flagsReply,
              ]),
              description:
                'Assigns as the request for one experiment does, and records no impression. The gateway answers ' +
                "`/flags` and `/decide` of PostHog's libraries with it.",
            },
          },
        }),
  };
}

function describe(
  served: ServedExperiments,
  operationId: string,
  summary: string,
  [body, reply]: readonly [TSchema, TSchema],
): JsonObject {
  return {
    operationId,
    ...served.members,
    summary,
    requestBody: { required: true, content: json(body) },
    responses: {
      200: { description: 'Done.', content: json(reply) },
      ...Object.fromEntries(
        Object.entries({ ...failures, ...served.failures }).map(([status, description]) => [
          status,
          { description, content: json(failureReply) },
        ]),
      ),
    },
  };
}

function json(schema: TSchema): JsonObject {
  return { 'application/json': { schema } };
}
