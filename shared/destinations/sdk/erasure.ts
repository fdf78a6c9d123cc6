import { classifyAnswer } from '../../egress/classify-answer.ts';
import type { OutboundAnswer, OutboundRequest } from '../../egress/outbound.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** A person to delete, by everything that destinations may know it by. */
export type ErasureSubject = {
  /** Ids of the visitor, of its devices and of the visitors merged into it. */
  readonly visitorIds: readonly string[];
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /** In E.164. */
  readonly phones: readonly string[];
};

export type ErasureOrder = {
  readonly subject: ErasureSubject;
  /** Names the erasure; it says nothing of the person. */
  readonly id: string;
  readonly requestedAtMs: number;
  readonly dueAtMs: number;
  /** Whether the person's identifiers are refused from now on as well. */
  readonly isSuppressed: boolean;
};

/** How an attempt ends. Reasons are stored and shown: none quotes an identifier. */
export type ErasureEnd =
  | { readonly kind: 'done' }
  /** The platform accepted it and deletes later; `poll` asks for the state by the reference where the platform shows one, which is `isFinal` otherwise. */
  | { readonly kind: 'requested'; readonly reference: string | undefined; readonly isFinal?: boolean }
  | { readonly kind: 'nothing'; readonly reason: string }
  /** Only a person can do it: a setting or an identifier is missing, or the platform has no interface for it. */
  | { readonly kind: 'manual'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * What to do next: send a request and read its answer, or end. A crash begins an attempt again from its first step, so
 * every request may be repeated.
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
  /** Asks whether a deletion that was `requested` is done; `requested` again where it is not. */
  readonly poll?: (reference: string) => ErasureStep;
};

export const done: ErasureEnd = { kind: 'done' };
export const requested: ErasureEnd = { kind: 'requested', reference: undefined };

export const manual = (reason: string): PreparedErasure => ({ begin: () => ({ kind: 'manual', reason }) });

/** For a platform that stores nothing of a person. */
export const nothingKept = (reason: string): PreparedErasure => ({ begin: () => ({ kind: 'nothing', reason }) });

/** Where the subject has none of the identifiers that the platform deletes by. */
export const noIdentifier = (names: string): ErasureEnd => ({
  kind: 'manual',
  reason: `The platform deletes by ${names}, and the visitor had none.`,
});

/** Sends a request. `then` continues after a 2xx, and after a status in `absent`, which says that there is nothing (left). */
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
          return then(answer);
        case 'retry':
          return { kind: 'retry', reason: outcome.reason, afterMs: outcome.afterMs };
        case 'reject':
          return { kind: 'failed', reason: outcome.reason };
      }
    },
  };
}

/** One step after the other: `stepOf` makes the step of an item, which continues with `next`. Then `end`. */
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
