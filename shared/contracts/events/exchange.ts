/**
 * The last request of a failed attempt and what the platform answered, without secrets and cut to a bounded size. Part of a
 * dead letter and of an event's outcome: it may hold personal data and leaves with them. No member is an object named
 * `event`: see `raw-event.ts`.
 */
export type Exchange = {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The first 2 KiB. Absent where there was none, and where the request held events of several visitors. */
    readonly body?: string;
    readonly isCut?: true;
    /** How many events it held. */
    readonly events: number;
  };
  /** Absent when there was no answer. */
  readonly answer?: PlatformError & {
    /** Those that say how to go on: request ids, rate limits, Retry-After. */
    readonly headers: Readonly<Record<string, string>>;
    /** The first 2 KiB. */
    readonly body: string;
    readonly isCut?: true;
  };
};

/** What a platform says of a failure, without values of the event: failures are grouped by it. */
export type PlatformError = {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
};

/** Kept of each body, in bytes. */
export const exchangeBodyBytesMax = 2 * 1024;

/** What failures of an exchange are grouped by; undefined when there was no answer. */
export function platformErrorOf({ answer }: Exchange): PlatformError | undefined {
  if (answer === undefined) return undefined;
  const { status, code, message } = answer;
  return { status, ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
}
