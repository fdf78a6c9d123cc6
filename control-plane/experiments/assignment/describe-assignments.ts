import type { TSchema } from 'typebox';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import {
  assignmentBody,
  assignmentReply,
  failureReply,
  personalizationBody,
  personalizationReply,
} from '../../../shared/experiments/assignment-bodies.ts';

const failures: Readonly<Record<number, string>> = {
  400: 'The body is not JSON, lacks a field, or has one of the wrong type.',
  401: 'The token is no token of a published version.',
  403: 'The page is not one of the whitelistDomains of the experiment settings or, with a source key, the page or the address is not one of those the source lists.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is neither application/json nor text/plain.',
  500: 'Internal error; the answer carries x-request-id.',
  503: 'Nothing could be stored now; try again after Retry-After seconds.',
};

const keyParameter = {
  name: 'key',
  in: 'path',
  required: true,
  description: "The experiment's key.",
  schema: { type: 'string' },
};

/** The experiment endpoints, by path, as the OpenAPI document shows them. */
export const assignmentPaths: Readonly<Record<string, JsonObject>> = {
  '/experiments/assignments/{key}': {
    post: {
      ...describe('assignVariant', "A visitor's variant of an experiment", assignmentBody, assignmentReply),
      description:
        'Deterministic on visitor_id, and sticky: the first assignment is stored with the visitor. Records a ' +
        '`$experiment_impression` event unless track_impression is false. A visitor who is not in the experiment, also ' +
        'because no such experiment runs, is told so with 200. Follows the published version. ' +
        'An erasure or a merge of the visitor takes effect within half a minute where it was assigned before.',
      parameters: [keyParameter],
    },
  },
  '/experiments/personalization': {
    post: {
      ...describe('personalize', "The properties of a visitor's variants", personalizationBody, personalizationReply),
      description: 'Read-only: makes no assignment and records no event.',
    },
  },
};

function describe(operationId: string, summary: string, body: TSchema, reply: TSchema): JsonObject {
  return {
    operationId,
    tags: ['Experiment assignments'],
    summary,
    security: [],
    requestBody: { required: true, content: json(body) },
    responses: {
      200: { description: 'Done.', content: json(reply) },
      ...Object.fromEntries(
        Object.entries(failures).map(([status, description]) => [status, { description, content: json(failureReply) }]),
      ),
    },
  };
}

function json(schema: TSchema): JsonObject {
  return { 'application/json': { schema } };
}
