import type { ResolvedEvent } from './resolved-event.ts';

/** An event a destination did not take: one message of `dead.<destination>`. */
export type DeadLetter = {
  readonly v: 1;
  readonly destinationId: string;
  readonly reason: string;
  readonly attempts: number;
  /** Ms since the epoch. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  /** The last request without what may be secret in it: no path, query, header or body. */
  readonly request?: RequestSummary;
  readonly event: ResolvedEvent;
};

export type RequestSummary = {
  readonly method: string;
  readonly host: string;
  /** Undefined when there was no answer. */
  readonly status?: number;
};

export function encodeDeadLetter(letter: DeadLetter): Uint8Array {
  return Buffer.from(JSON.stringify(letter));
}

/** Reads a dead letter; undefined when the message is none this build knows. */
export function decodeDeadLetter(data: Uint8Array): DeadLetter | undefined {
  try {
    const letter = JSON.parse(Buffer.from(data).toString('utf8')) as DeadLetter;
    return letter.v === 1 && letter.event.v === 1 ? letter : undefined;
  } catch {
    return undefined;
  }
}
