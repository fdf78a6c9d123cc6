/**
 * The last request of a failed attempt and the platform's answer, without secrets and limited in size. Part of a dead
 * letter and of an event's outcome: it may contain personal data and is deleted with them. No member is an object named
 * `event`: see `raw-event.ts`.
 */
export type Exchange = {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The first 2 KiB. Absent if there was no body, or if the request contained events of several visitors. */
    readonly body?: string;
    readonly isCut?: true;
    /** Number of events in the request. */
    readonly events: number;
  };
  /** Absent if there was no answer. */
  readonly answer?: PlatformError & {
    /** Headers with request ids, rate limits and Retry-After. */
    readonly headers: Readonly<Record<string, string>>;
    /** The first 2 KiB. */
    readonly body: string;
    readonly isCut?: true;
  };
};

/** What the platform reported about a failure, without values of the event: failures are grouped by this. */
export type PlatformError = {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
};

/** Maximum number of bytes that are stored of each body. */
export const exchangeBodyBytesMax = 2 * 1024;

/** The key by which failures are grouped; undefined when there was no answer. */
export function platformErrorOf({ answer }: Exchange): PlatformError | undefined {
  if (answer === undefined) return undefined;
  const { status, code, message } = answer;
  return { status, ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
}
