import { uuidv7 } from 'uuidv7';
import { sampleEventFor } from '../../shared/destinations/sdk/sample-event.ts';
import { skipReason } from '../../shared/destinations/sdk/skip-reason.ts';
import { acceptsAll, readAnswer } from '../../shared/destinations/sdk/answers.ts';
import { UnfitEventError } from '../../shared/destinations/sdk/destination.ts';
import type {
  DestinationKind,
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
  PreparedDestination,
} from '../../shared/destinations/sdk/destination.ts';
import { classifyAnswer } from '../../shared/egress/classify-answer.ts';
import { authorized } from '../../shared/egress/oauth/authorized.ts';
import { sendInTurn } from '../../shared/egress/send-in-turn.ts';
import { parseUrl } from '../../shared/egress/sender.ts';
import type { Sender } from '../../shared/egress/sender.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { eventWorkMax, OverBudgetError, Work } from '../../shared/routing/values/work.ts';
import { secretMask } from '../../shared/contracts/config/secrets.ts';
import { createRequestMasker } from '../../shared/destinations/mask-secrets.ts';
import type { SecretMasker } from '../../shared/destinations/mask-secrets.ts';

/** The subject of a test: an event, and a kind with the unencrypted settings of a destination. */
export type DestinationTest = {
  readonly kind: DestinationKind;
  readonly settings: JsonObject;
  readonly prepared: PreparedDestination;
  readonly event: OutboundEvent;
};

/** A request without secrets, for display. */
export type ShownRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** The outcome, without any secret. */
export type DestinationTestResult = {
  readonly outcome: Outcome['kind'] | 'held' | 'skipped';
  readonly reason: string | null;
  readonly durationMs: number | null;
  readonly request: ShownRequest | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
};

/**
 * Number of characters of a body that are shown. More of a response is read, so that a secret at the cut is recognised
 * as a whole.
 */
export const shownCharsMax = { request: 64 * 1024, answer: 16 * 1024 } as const;

const unsent = { durationMs: null, request: null, answer: null } as const;

/** Sends one event as the pipeline would, and returns the request and the answer. */
export async function runDestinationTest(test: DestinationTest, sender: Sender): Promise<DestinationTestResult> {
  const { prepared, event } = test;
  if (prepared.accepts?.(event) === false) {
    return { outcome: 'skipped', reason: skipReason(test.kind.facts, event), ...unsent };
  }
  const built = build(prepared, event, Date.now());
  if (typeof built === 'string') return { outcome: 'reject', reason: built, ...unsent };
  const startedMs = performance.now();
  const { request, result: sent } = await sendInTurn(sender, built, acceptsAll(prepared, [event]));
  const durationMs = Math.round(performance.now() - startedMs);
  const mask = maskerOf(test, request);
  const shown = showRequest(mask, request);
  if (sent.kind === 'failed') {
    const later = sent.refusesAccess === true ? 'held' : 'retry';
    const outcome = sent.permanent ? 'reject' : later;
    return { outcome, reason: mask.text(sent.reason), durationMs, request: shown, answer: null };
  }
  const { status, headers, body } = sent.answer;
  const outcome = read(prepared, event, sent.answer);
  return {
    outcome: outcome.kind === 'retry' && outcome.refusesAccess === true ? 'held' : outcome.kind,
    reason: outcome.kind === 'delivered' ? null : mask.text(outcome.reason),
    durationMs,
    request: shown,
    answer: { status, headers: mask.headers(headers), body: mask.text(body).slice(0, shownCharsMax.answer) },
  };
}

/** The request for an event, without any secret, or the reason why there is none. Nothing is sent. */
export function previewRequest(
  ready: Pick<DestinationTest, 'kind' | 'settings' | 'prepared'>,
  event: OutboundEvent,
  nowMs: number,
): ShownRequest | string {
  if (ready.prepared.accepts?.(event) === false) return `Skipped: ${skipReason(ready.kind.facts, event)}.`;
  const request = build(ready.prepared, event, nowMs);
  return typeof request === 'string' ? request : showRequest(maskerOf(ready, request), request);
}

function maskerOf(
  { kind, settings }: Pick<DestinationTest, 'kind' | 'settings'>,
  request: OutboundRequest,
): SecretMasker {
  return createRequestMasker(kind, settings)(request);
}

function showRequest(mask: SecretMasker, request: OutboundRequest): ShownRequest {
  return {
    method: request.method,
    url: mask.url(request.url),
    // Only the sender knows the token itself, so the mask is shown.
    headers: mask.headers(authorized(request, secretMask).headers),
    body: request.body === undefined ? null : mask.text(request.body).slice(0, shownCharsMax.request),
  };
}

/** The request, or the reason why there is none. */
function build(prepared: PreparedDestination, event: OutboundEvent, nowMs: number): OutboundRequest | string {
  try {
    const request = prepared.buildRequest([event], nowMs);
    return parseUrl(request.url) === undefined ? 'the request has no usable URL' : request;
  } catch (error) {
    if (error instanceof UnfitEventError || error instanceof OverBudgetError) return error.message;
    // As in the pipeline, an error of the kind while it builds the request rejects the event.
    return `building the request: ${error instanceof Error ? error.name : 'failed'}`;
  }
}

function read(prepared: PreparedDestination, event: OutboundEvent, answer: OutboundAnswer): Outcome {
  const [row] = readAnswer(prepared, answer, [event]) ?? [];
  return row ?? classifyAnswer(answer, Date.now());
}

export type TestEventFields = { readonly event?: string; readonly properties?: JsonObject };

/**
 * An example event with the current time and its own id, marked as a test. In addition to the requested properties, it
 * has those that the kind's platform requires.
 */
export function createTestEvent(
  accountId: string,
  kind: Pick<DestinationKind, 'exampleProperties'>,
  { event, properties }: TestEventFields,
  nowMs: number,
): OutboundEvent {
  return {
    resolved: sampleEventFor(kind, {
      id: `test-${uuidv7()}`,
      time: nowMs,
      received_at: nowMs,
      source_id: 'test',
      account_id: accountId,
      test: true,
      ...(event === undefined ? {} : { event }),
      ...(properties === undefined ? {} : { event_properties: properties }),
    }),
    work: new Work(eventWorkMax),
  };
}
