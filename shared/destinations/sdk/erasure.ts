import { classifyAnswer } from '../../egress/classify-answer.ts';
import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** A person to delete, with every identifier that destinations may use. */
export type ErasureSubject = {
  /** Ids of the visitor, of its devices and of visitors merged into it. */
  readonly visitorIds: readonly string[];
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /** E.164. */
  readonly phones: readonly string[];
};

export type ErasureOrder = {
  readonly subject: ErasureSubject;
  /** The erasure's id, which contains no personal data. */
  readonly id: string;
  readonly requestedAtMs: number;
  readonly dueAtMs: number;
  /** Whether future events with the person's identifiers are refused too. */
  readonly isSuppressed: boolean;
};

/** The result of an attempt. Reasons are stored and displayed, so none quotes an identifier. */
export type ErasureEnd =
  | { readonly kind: 'done' }
  /**
   * The platform accepted the request and deletes later. `poll` checks the state by the reference;
   * `isFinal` means that the platform offers no such check.
   */
  | { readonly kind: 'requested'; readonly reference: string | undefined; readonly isFinal?: boolean }
  | { readonly kind: 'nothing'; readonly reason: string }
  /**
   * Needs an operator: a setting or identifier is missing, or the platform has no deletion
   * interface.
   */
  | { readonly kind: 'manual'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * The next step: send a request and read its response, or end. After a crash the attempt restarts
 * at its first step, so every request must be repeatable.
 */
export type ErasureStep =
  | ErasureEnd
  | {
      readonly kind: 'send';
      readonly request: OutboundRequest;
      read(answer: OutboundAnswer, nowMs: number): ErasureStep;
    };

export type PreparedErasure = {
  begin(order: ErasureOrder): ErasureStep;
  /** Checks whether a `requested` deletion is complete; returns `requested` while it is not. */
  readonly poll?: (reference: string) => ErasureStep;
};

export const done: ErasureEnd = { kind: 'done' };
export const requested: ErasureEnd = { kind: 'requested', reference: undefined };

const cutShort: ErasureEnd = { kind: 'retry', reason: 'the response is incomplete' };

export const manual = (reason: string): PreparedErasure => ({ begin: () => ({ kind: 'manual', reason }) });

/** For a platform that stores no personal data. */
export const nothingKept = (reason: string): PreparedErasure => ({ begin: () => ({ kind: 'nothing', reason }) });

/** For a subject without any identifier that the platform deletes by. */
export const noIdentifier = (names: string): ErasureEnd => ({
  kind: 'manual',
  reason: `The platform deletes by ${names}; this visitor has none of them.`,
});

/**
 * Sends a request. `then` continues after a 2xx, and after a status in `absent`, with which the
 * platform reports that it does not know the person.
 */
export function ask(
  request: OutboundRequest,
  then: (answer: OutboundAnswer) => ErasureStep,
  absent: readonly number[] = [],
): ErasureStep {
  return {
    kind: 'send',
    request,
    read(answer, nowMs) {
      if (absent.includes(answer.status)) return then(answer);
      const outcome = classifyAnswer(answer, nowMs);
      switch (outcome.kind) {
        case 'delivered':
        case 'dropped':
          // The missing part of what a search found may name the person.
          if (answer.isCut === true && request.method === 'GET') return cutShort;
          return then(answer);
        case 'retry':
          return { kind: 'retry', reason: outcome.reason, afterMs: outcome.afterMs };
        case 'reject':
          return { kind: 'failed', reason: outcome.reason };
      }
    },
  };
}

/**
 * Runs one step per item in sequence, then `end`. `stepOf` creates the step of an item, which must
 * continue with `next`.
 */
export function inTurn<Item>(
  items: readonly Item[],
  stepOf: (item: Item, next: () => ErasureStep) => ErasureStep,
  end: ErasureEnd | (() => ErasureStep),
): ErasureStep {
  const at = (index: number): ErasureStep => {
    const item = items[index];
    if (item !== undefined) return stepOf(item, () => at(index + 1));
    return typeof end === 'function' ? end() : end;
  };
  return at(0);
}

export function inChunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

type Headers = Readonly<Record<string, string>>;

const userAgent = { 'user-agent': 'Sluice/1' };

export function erasurePost(url: string, headers: Headers, body: JsonObject): OutboundRequest {
  return {
    method: 'POST',
    url,
    headers: { ...userAgent, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

export function erasureGet(url: string, headers: Headers): OutboundRequest {
  return { method: 'GET', url, headers: { ...userAgent, accept: 'application/json', ...headers }, body: undefined };
}

export function erasureDelete(url: string, headers: Headers): OutboundRequest {
  return { method: 'DELETE', url, headers: { ...userAgent, accept: 'application/json', ...headers }, body: undefined };
}
