import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/compile';
import { isPageAllowed } from '../../shared/admission/allowed-origins.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';
import { PublishError } from '../../shared/log/publisher.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { ApiError, badRequest, unauthorized } from '../http/api-error.ts';
import { readJson } from '../http/checked-json.ts';
import { failureOf } from '../http/failure.ts';
import { loggableError } from '../http/loggable-error.ts';
import type { Assigned, Assigner } from './assigner.ts';
import { assignmentBody, personalizationBody } from '../../shared/experiments/assignment-bodies.ts';
import type { ExperimentPlans, OpenedPlan } from './experiment-plans.ts';

export type AssignmentRoutes = {
  readonly plans: ExperimentPlans;
  readonly assigner: Assigner;
  readonly clientAddress: ClientAddress;
  readonly logger: Logger;
};

const bodyLimit = 64 * 1024;
const isAssignment = Compile(assignmentBody);
const isPersonalization = Compile(personalizationBody);

/** Adds what browsers and servers ask for variants with: no API key, the token is in the body. */
export function addAssignmentRoutes(app: FastifyInstance, options: AssignmentRoutes): void {
  const { plans, assigner, clientAddress, logger } = options;
  const open = (token: string, request: FastifyRequest): OpenedPlan => {
    const opened = findPlan(plans, token);
    if (!isAdmitted(opened, request, clientAddress)) throw refused();
    return opened;
  };
  void app.register(async (routes) => {
    readBeacons(routes);
    routes.addHook('onRequest', async (_request, reply) => void reply.header('access-control-allow-origin', '*'));
    routes.setErrorHandler((error, request, reply) => answerFailure(error, request, reply, logger));
    routes.options('/experiments/*', (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-methods', 'POST')
        .header('access-control-allow-headers', 'content-type')
        .header('access-control-max-age', '86400')
        .send(),
    );
    routes.post('/experiments/assignments/:key', { bodyLimit }, async (request) => {
      const { body } = request;
      if (!isAssignment.Check(body)) throw badRequest('the body is not a request for an assignment');
      const assigned = await assigner.assign(open(body.token, request), {
        experimentKey: (request.params as { readonly key: string }).key,
        visitorId: body.visitor_id,
        trackImpression: body.track_impression ?? true,
        context: body.context ?? undefined,
      });
      return assigned === undefined ? { success: true, in_experiment: false } : viewAssigned(assigned);
    });
    routes.post('/experiments/personalization', { bodyLimit }, async (request) => {
      const { body } = request;
      if (!isPersonalization.Check(body)) throw badRequest('the body is not a request for a personalization');
      const opened = open(body.token, request);
      const properties = await assigner.personalize(opened, body.visitor_id, body.context ?? undefined);
      return { success: true, properties };
    });
  });
}

function findPlan(plans: ExperimentPlans, token: string): OpenedPlan {
  const opened = plans.find(token);
  if (opened === undefined && !plans.ready) throw unavailable(undefined);
  if (opened === undefined) throw unauthorized();
  return opened;
}

/** Whether the lists of the token's settings or source let the request in. */
function isAdmitted({ token }: OpenedPlan, { headers, ip }: FastifyRequest, clientAddress: ClientAddress): boolean {
  const { domains, addresses } = token;
  if (!isPageAllowed(domains, headers.origin ?? '', headers.referer ?? '')) return false;
  if (addresses === undefined) return true;
  const forwardedFor = headers['x-forwarded-for'] ?? '';
  return addresses.includes(clientAddress.ofText(ip, String(forwardedFor)));
}

const refused = (): ApiError =>
  new ApiError(403, 'forbidden', 'the token is not taken from this page or address: see its whitelists');

function viewAssigned({ experiment, variant }: Assigned): unknown {
  return {
    success: true,
    in_experiment: true,
    experiment_id: experiment.id,
    experiment_key: experiment.key,
    experiment_name: experiment.name,
    variant_id: variant.id,
    variant_name: variant.name,
    is_control: variant.isControl,
    type: experiment.type,
    ...(variant.redirect === null ? {} : { redirect: variant.redirect }),
  };
}

/** A page that must not ask for permission first sends JSON as text, or without a type. */
function readBeacons(routes: FastifyInstance): void {
  routes.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const type = request.headers['content-type'];
    try {
      if (type !== undefined && !/^text\/plain\b/i.test(type)) {
        throw new ApiError(415, 'media_type', 'the body must be sent as JSON');
      }
      done(null, readJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const failure = error instanceof PublishError ? unavailable(error) : failureOf(error);
  if (failure.status >= 500) {
    const fields = { requestId: request.id, status: failure.status, failure: loggableError(failure.cause) };
    logger.error(fields, 'request for an experiment failed');
  }
  if (failure.status === 503) void reply.header('retry-after', '1');
  return reply.code(failure.status).send({ success: false });
}

function unavailable(cause: unknown): ApiError {
  const failure = new ApiError(503, 'unavailable', 'experiments cannot be served now, try again');
  failure.cause = cause;
  return failure;
}
