import { Compile } from 'typebox/compile';
import { isPageAllowed } from '../../../shared/admission/allowed-origins.ts';
import { assignmentBody, flagsBody, personalizationBody } from '../../../shared/experiments/assignment-bodies.ts';
import type { ExperimentVariant } from '../../../shared/experiments/experiment-bodies.ts';
import { ApiError, badRequest, unauthorized } from '../../api/api-error.ts';
import { readJson } from '../../api/checked-json.ts';
import type { Assigned, Assigner, Personalized } from './assigner.ts';
import type { ExperimentPlans, OpenedPlan } from './experiment-plans.ts';

/** A request for a variant, independent of its transport. */
export type ExperimentCall = {
  readonly body: Buffer;
  /** Empty if the request has no Origin header. */
  readonly origin: string;
  readonly referer: string;
  /** Whether the browser sends Global Privacy Control. */
  readonly hasGpc: boolean;
  /** Determined only if a source lists addresses. */
  clientAddress(): string;
};

/**
 * Serves variant requests of browsers and servers, without an API key: the token is in the body. Throws ApiError and
 * PublishError.
 */
export type ExperimentService = {
  assign(experimentKey: string, call: ExperimentCall): Promise<ExperimentAnswer>;
  personalize(call: ExperimentCall): Promise<ExperimentAnswer>;
  flags(call: ExperimentCall): Promise<ExperimentAnswer>;
};

/** JSON as text, because Node.js sends text in one piece with the headers, but bytes in a separate piece. */
export type ExperimentAnswer = { readonly text: string; readonly bytes: number };

const isAssignment = Compile(assignmentBody);
const isPersonalization = Compile(personalizationBody);
const isFlags = Compile(flagsBody);

export function createExperimentService(plans: ExperimentPlans, assigner: Assigner): ExperimentService {
  // All visitors of a variant get the same reply while its version is live.
  const answers = new WeakMap<ExperimentVariant, ExperimentAnswer>();
  const answerOf = (assigned: Assigned): ExperimentAnswer => {
    const known = answers.get(assigned.variant);
    if (known !== undefined) return known;
    const made = encodeAnswer(viewAssigned(assigned));
    answers.set(assigned.variant, made);
    return made;
  };
  return {
    async assign(experimentKey, call) {
      const body = readJson(call.body);
      if (!isAssignment.Check(body)) throw badRequest('the body is not a request for an assignment');
      const request = {
        experimentKey,
        visitorId: body.visitor_id,
        trackImpression: body.track_impression ?? true,
        context: body.context ?? undefined,
      };
      const assigned = await assigner.assign(open(plans, body.token, call), request, call);
      return assigned === undefined ? notInExperiment : answerOf(assigned);
    },
    async personalize(call) {
      const body = readJson(call.body);
      if (!isPersonalization.Check(body)) throw badRequest('the body is not a request for a personalization');
      const opened = open(plans, body.token, call);
      return encodeAnswer(
        viewPersonalized(await assigner.personalize(opened, body.visitor_id, body.context ?? undefined)),
      );
    },
    async flags(call) {
      const body = readJson(call.body);
      if (!isFlags.Check(body)) throw badRequest('the body is not a request for flags');
      const found = await assigner.flags(open(plans, body.token, call), body.visitor_id, body.keys);
      const flags = [...found].map(([key, assigned]) => [key, assigned?.variant.name ?? false] as const);
      return encodeAnswer({ success: true, flags: Object.fromEntries(flags) });
    },
  };
}

/** The error while experiments cannot be served. */
export function unavailable(cause?: unknown): ApiError {
  const failure = new ApiError(503, 'unavailable', 'experiments cannot be served now, try again');
  failure.cause = cause;
  return failure;
}

/** Encodes a reply once for any number of requests. */
export function encodeAnswer(value: object): ExperimentAnswer {
  const text = JSON.stringify(value);
  return { text, bytes: Buffer.byteLength(text) };
}

const notInExperiment = encodeAnswer({ success: true, in_experiment: false });

/** The token's experiments. Throws if the whitelists of its settings or source do not allow the request. */
function open(plans: ExperimentPlans, token: string, call: ExperimentCall): OpenedPlan {
  const opened = plans.find(token);
  if (opened === undefined) throw plans.ready ? unauthorized() : unavailable();
  const { domains, addresses } = opened.token;
  const isAdmitted =
    isPageAllowed(domains, call.origin, call.referer) &&
    (addresses === undefined || addresses.includes(call.clientAddress()));
  if (isAdmitted) return opened;
  throw new ApiError(403, 'forbidden', 'the token is refused from this page or address: see its whitelists');
}

function viewAssigned({ experiment, variant }: Assigned): object {
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

function viewPersonalized({ properties, by, assignedAt }: Personalized): object {
  return {
    success: true,
    properties,
    personalizations: by.map(({ experiment, variant, origin }) => ({
      experiment_id: experiment.id,
      experiment_key: experiment.key,
      experiment_name: experiment.name,
      variant_id: variant.id,
      variant_name: variant.name,
      assigned_at: (origin === 'sticky' ? assignedAt.get(experiment.id)?.toISOString() : undefined) ?? null,
    })),
  };
}
