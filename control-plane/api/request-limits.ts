import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { LimitFunction } from 'p-limit';
import { ConcurrencyLimit, RateLimit } from '../../shared/limits/index.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';
import { databaseConnections, visitorConnectionsMax } from '../store/databases-settings.ts';
import { ApiError, tooMany } from './api-error.ts';

/** Limits the requests of each owner: some run at the same time, some wait, and all others are refused. */
export type RequestLimits = {
  /** Admits a request. Throws if its owner has too many requests in flight. */
  enter(owner: string): Admitted;
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** Requests refused since the start. */
  readonly refused: number;
};

export type Admitted = {
  /**
   * Does the work in its turn, unless the request ends before its turn. Costly work also waits while its owner exceeds
   * its cost budget; throws if that wait would be too long.
   */
  run<Result>(work: () => Promise<Result>, isCostly?: boolean): Promise<Result>;
  /** Call when the client has received its reply, or has disconnected. */
  leave(): void;
};

export type RequestLimitsOptions = {
  readonly runningMax: number;
  /** Maximum number of requests that run, wait, or are being received or answered. */
  readonly inFlightMax: number;
  /** The error for an owner with too many requests. */
  refusal(): ApiError;
  /** The cost budget of an owner. Default: no limit. */
  readonly costly?: CostlyLimits;
};

export type CostlyLimits = {
  /** Fraction of the time that costly work of one owner may take, from 0 to 1. */
  readonly share: number;
  /** Time that costly work may take in a burst, in ms. */
  readonly burstMs: number;
  /** The longest wait of costly work, in ms; it is refused if it would have to wait longer. */
  readonly waitMaxMs: number;
  /** The error for an owner that may try again after `retryAfterS` seconds. */
  refusal(retryAfterS: number): ApiError;
};

/** The queue of one owner's requests. */
type Turns = {
  readonly all: LimitFunction;
  /** Runs one costly request at a time; otherwise, waiting for another costly request would count as cost. */
  readonly costly: LimitFunction;
};

const gone = new ApiError(400, 'gone', 'the request ended before its turn came');

export function createRequestLimits(options: RequestLimitsOptions): RequestLimits {
  const { runningMax, inFlightMax, refusal, costly } = options;
  const inFlight = new ConcurrencyLimit({ ofOwnerMax: inFlightMax });
  const turnsOf = new Map<string, Turns>();
  const spent = costly && new RateLimit({ perS: costly.share * 1_000, burst: costly.burstMs });
  let refusedAsCostly = 0;

  /**
   * How long costly work still has to wait, in ms. Throws if the wait, including the time already waited, is too long.
   */
  const costlyWaitMs = (owner: string, waitedMs: number): number => {
    const waitMs = spent?.waitMs(owner) ?? 0;
    if (costly === undefined || waitMs === 0 || waitedMs + waitMs <= costly.waitMaxMs) return waitMs;
    refusedAsCostly += 1;
    throw costly.refusal(Math.ceil(waitMs / 1_000));
  };
  const inBudget = <Result>(owner: string, turns: Turns, work: () => Promise<Result>): Promise<Result> => {
    const enteredMs = performance.now();
    costlyWaitMs(owner, 0);
    return turns.costly(async () => {
      const waitMs = costlyWaitMs(owner, performance.now() - enteredMs);
      if (waitMs > 0) await wait(waitMs);
      return work();
    });
  };
  const spending = async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    const startedMs = performance.now();
    try {
      return await work();
    } finally {
      spent?.charge(owner, performance.now() - startedMs);
    }
  };

  return {
    get waiting() {
      return [...turnsOf.values()].reduce((sum, { all }) => sum + all.pendingCount, 0);
    },
    get refused() {
      return inFlight.refused + refusedAsCostly;
    },
    enter(owner) {
      if (!inFlight.take(owner)) throw refusal();
      const turns = turnsOf.get(owner) ?? { all: pLimit(runningMax), costly: pLimit(1) };
      turnsOf.set(owner, turns);
      let [isHere, works] = [true, 0];
      // Work continues to count after its client has disconnected.
      const settle = (): void => {
        if (isHere || works > 0) return;
        inFlight.release(owner);
        if (inFlight.usedBy(owner) === 0) turnsOf.delete(owner);
      };
      const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
        turns.all(() => {
          if (!isHere) throw gone;
          return work();
        });
      return {
        async run(work, isCostly = false) {
          works += 1;
          try {
            if (!isCostly) return await inTurn(work);
            return await inBudget(owner, turns, () => inTurn(() => spending(owner, work)));
          } finally {
            works -= 1;
            settle();
          }
        },
        leave() {
          if (!isHere) return;
          isHere = false;
          settle();
        },
      };
    },
  };
}

/**
 * Maximum number of keys of one address that are looked up at the same time: fewer than the connections for key
 * lookups.
 */
const loginsRunningMax = 2;
/**
 * Maximum number of requests of one address whose API key is being looked up or waits for its lookup; further requests
 * get a 429.
 */
const loginsMax = 500;

export const { variables: requestLimitsEnv, read: readRequestLimitSettings } = defineSettings({
  /** The cost budget of one account. */
  costly: {
    share: fromEnv(
      {
        ACCOUNT_COSTLY_PERCENT: count(
          'Percentage of time that costly requests (publishing, replays, releasing quarantined events, rotating source keys, trials and counts of recent events) may take for one account. Beyond it, such requests wait; a request that would wait for over 10 seconds gets a 429 with Retry-After',
          20,
          { unit: '%', maximum: 100 },
        ),
      },
      (env) => env.ACCOUNT_COSTLY_PERCENT / 100,
    ),
    burstMs: 5_000,
    waitMaxMs: 10_000,
  },
  /** Below the number of connections of each pool that requests use, so that no account uses up a pool. */
  runningMax: fromEnv(databaseConnections, (env) =>
    Math.min(Math.ceil(env.CONTROL_PLANE_DATABASE_CONNECTIONS_MAX / 2), visitorConnectionsMax - 1),
  ),
  requestsMax: fromEnv({
    ACCOUNT_REQUESTS_MAX: count('Requests of one account under way or waiting; more are refused with a 429', 200),
  }),
});

export type RequestLimitSettings = ReturnType<typeof readRequestLimitSettings>;

/** Limits by account, for requests with a known key. */
export function createAccountLimits({ runningMax, requestsMax, costly }: RequestLimitSettings): RequestLimits {
  return createRequestLimits({
    runningMax,
    inFlightMax: requestsMax,
    refusal: () => tooMany(`${requestsMax} requests of the account are under way, try again`),
    costly: {
      ...costly,
      refusal: (retryAfterS) =>
        tooMany(
          `costly requests, such as publishing and replays, have used the time budget of the account, try again in ${retryAfterS} s`,
          retryAfterS,
        ),
    },
  });
}

/** Limits by address, for requests whose key is not looked up yet. */
export function createLoginLimits(): RequestLimits {
  return createRequestLimits({
    runningMax: loginsRunningMax,
    inFlightMax: loginsMax,
    refusal: () =>
      tooMany(`${loginsMax} requests from this address are waiting for the check of their API key, try again`),
  });
}
