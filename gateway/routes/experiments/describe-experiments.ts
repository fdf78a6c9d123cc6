import {
  assignmentBody,
  assignmentReply,
  failureReply,
  personalizationBody,
  personalizationReply,
} from '../../../shared/experiments/assignment-bodies.ts';

const content = (schema: object): object => ({ 'application/json': { schema } });
const failures: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or a missing or ill-typed field',
  401: 'The token is missing, unknown, or in no published version',
  403: "The whitelists of the experiment settings, or of the source, refuse the request's page or address",
  404: 'This gateway serves no experiments',
  413: 'The body is larger than 64 KiB',
  415: 'The body is not JSON',
  503: 'Experiments cannot be served now; try again after Retry-After seconds',
};
const describe = (operationId: string, summary: string, body: object, reply: object): object => ({
  operationId,
  summary,
  requestBody: { required: true, content: content(body) },
  responses: {
    200: { description: 'Done', content: content(reply) },
    ...Object.fromEntries(
      Object.entries(failures).map(([status, description]) => [
        status,
        { description, content: content(failureReply) },
      ]),
    ),
  },
});

/** The experiments' part of the ingest interface: the control plane's, under this address. */
export const experimentPaths: Readonly<Record<string, object>> = {
  '/api/v1/experiments/assignments/{experiment_key}': {
    post: {
      ...describe('assignVariant', "A visitor's variant of an experiment", assignmentBody, assignmentReply),
      parameters: [
        {
          name: 'experiment_key',
          in: 'path',
          required: true,
          description: "The experiment's key",
          schema: { type: 'string' },
        },
      ],
    },
  },
  '/api/v1/experiments/personalization': {
    post: describe('personalize', "The properties of a visitor's variants", personalizationBody, personalizationReply),
  },
};
