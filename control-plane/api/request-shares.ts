import { setTimeout as wait } from 'node:timers/promises';
import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';
import { ApiError, tooMany } from './api-error.ts';
import { WorkBudget } from './work-budget.ts';
import type { WorkBudgetLimits } from './work-budget.ts';

/** Requests under way by whom they are for: so many are worked on at a time, so many more wait for their turn. */
export type RequestShares = {
  /** Lets a request in. Throws where its owner has as many under way as may be. */
  enter(owner: string): Admitted;
  /** Waiting for their turn. */
  readonly waiting: number;
  /** Not let in, since the start. */
  readonly refused: number;
};

/** A request that was let in. */
export type Admitted = {
  /**
   * Does the work when its turn comes; one that has left by then is not worked on. Costly work waits longer where its owner
   * had much of it done. Throws where that would be too long.
   */
  run<Result>(work: () => Promise<Result>, isCostly?: boolean): Promise<Result>;
  /** Its client has its answer, or is gone. */
  leave(): void;
};

export type RequestSharesOptions = {
  readonly runningMax: number;
  /** Running, waiting, and still sending or receiving. */
  readonly underWayMax: number;
  /** What an owner is told who has too many. */
  refusal(): ApiError;
  /** How much costly work may be done for an owner. Default any. */
  readonly costly?: CostlyLimits;
};

export type CostlyLimits = WorkBudgetLimits & {
  /** Costly work that would have to wait for longer is refused, in ms. */
  readonly waitMaxMs: number;
  /** What its owner is told, who may try again after so long, in seconds. */
  refusal(retryAfterS: number): ApiError;
};

type Share = {
  underWay: number;
  running: number;
  readonly waiting: (() => void)[];
  /** Settles with the costly work that was asked for last. */
  costly: Promise<void>;
};

const gone = new ApiError(400, 'gone', 'the request ended before its turn came');

export function createRequestShares(options: RequestSharesOptions): RequestShares {
  const { runningMax, underWayMax, refusal, costly } = options;
  const shares = new Map<string, Share>();
  const budget = costly && new WorkBudget(costly);
  let [waiting, refused] = [0, 0];

  /** How long costly work still has to wait, in ms. Throws where that is too long, with what it has waited. */
  const refuseBeyond = (owner: string, waitedMs: number): number => {
    const waitMs = budget?.waitMs(owner) ?? 0;
    if (costly === undefined || waitMs === 0 || waitedMs + waitMs <= costly.waitMaxMs) return waitMs;
    refused += 1;
    throw costly.refusal(Math.ceil(waitMs / 1_000));
  };
  /** One at a time: what one waits for another is not what it costs. */
  const inBudget = async <Result>(owner: string, share: Share, work: () => Promise<Result>): Promise<Result> => {
    const enteredMs = performance.now();
    refuseBeyond(owner, 0);
    const before = share.costly;
    let end = (): void => undefined;
    share.costly = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    try {
      const waitMs = refuseBeyond(owner, performance.now() - enteredMs);
      if (waitMs > 0) await wait(waitMs);
      return await work();
    } finally {
      end();
    }
  };
  const spending = async <Result>(owner: string, work: () => Promise<Result>): Promise<Result> => {
    const startedMs = performance.now();
    try {
      return await work();
    } finally {
      budget?.spend(owner, performance.now() - startedMs);
    }
  };

  const turnOf = async (share: Share): Promise<void> => {
    if (share.running < runningMax) {
      share.running += 1;
      return;
    }
    waiting += 1;
    // Whoever ends hands its turn over.
    await new Promise<void>((resolve) => share.waiting.push(resolve));
    waiting -= 1;
  };
  const endTurn = (share: Share): void => {
    const next = share.waiting.shift();
    if (next === undefined) share.running -= 1;
    else next();
  };

  return {
    get waiting() {
      return waiting;
    },
    get refused() {
      return refused;
    },
    enter(owner) {
      const share = shares.get(owner) ?? { underWay: 0, running: 0, waiting: [], costly: Promise.resolve() };
      if (share.underWay >= underWayMax) {
        refused += 1;
        throw refusal();
      }
      shares.set(owner, share);
      share.underWay += 1;
      let [isHere, works] = [true, 0];
      // What a client left behind counts for as long as it is worked on.
      const settle = (): void => {
        if (isHere || works > 0) return;
        share.underWay -= 1;
        if (share.underWay === 0) shares.delete(owner);
      };
      const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        await turnOf(share);
        try {
          if (!isHere) throw gone;
          return await work();
        } finally {
          endTurn(share);
        }
      };
      return {
        async run(work, isCostly = false) {
          works += 1;
          try {
            if (!isCostly) return await inTurn(work);
            return await inBudget(owner, share, () => inTurn(() => spending(owner, work)));
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

export const requestSharesEnv = {
  ACCOUNT_REQUESTS_RUNNING_MAX: count(
    'Requests of one account worked on at a time, the others wait; below CONTROL_PLANE_DATABASE_CONNECTIONS_MAX, so that no account has all connections',
    5,
  ),
  ACCOUNT_COSTLY_PERCENT: count(
    'Of the time, what publishing, replays and their cancelling may take for one account; with more of it they wait',
    20,
    { unit: '%', maximum: 100 },
  ),
  ACCOUNT_COSTLY_BURST_MS: count('Of that, what may be taken at once before anything waits', 5_000, { unit: 'ms' }),
  ACCOUNT_COSTLY_WAIT_MAX_MS: count('What would have to wait for longer gets a 429 with Retry-After', 10_000, {
    unit: 'ms',
  }),
  ACCOUNT_REQUESTS_MAX: count('Requests of one account under way or waiting; more are refused with a 429', 200),
  ADDRESS_LOGINS_RUNNING_MAX: count(
    'API keys that one address has looked up at a time, the others wait; below CONTROL_PLANE_LOGIN_CONNECTIONS_MAX',
    2,
  ),
  ADDRESS_LOGINS_MAX: count('Requests of one address whose API key is looked up or waits for it; more get a 429', 500),
};

type RequestSharesVariables = Static<TObject<typeof requestSharesEnv>>;

/** Of those whose key is known, by account. */
export function createAccountShares(env: RequestSharesVariables): RequestShares {
  return createRequestShares({
    runningMax: env.ACCOUNT_REQUESTS_RUNNING_MAX,
    underWayMax: env.ACCOUNT_REQUESTS_MAX,
    refusal: () => tooMany(`${env.ACCOUNT_REQUESTS_MAX} requests of the account are under way, try again`),
    costly: {
      share: env.ACCOUNT_COSTLY_PERCENT / 100,
      burstMs: env.ACCOUNT_COSTLY_BURST_MS,
      waitMaxMs: env.ACCOUNT_COSTLY_WAIT_MAX_MS,
      refusal: (retryAfterS) =>
        tooMany(
          `publishing and replaying have taken more time than one account may have, try again in ${retryAfterS} s`,
          retryAfterS,
        ),
    },
  });
}

/** Of those whose key is still to be looked up, by the address they come from. */
export function createLoginShares(env: RequestSharesVariables): RequestShares {
  return createRequestShares({
    runningMax: env.ADDRESS_LOGINS_RUNNING_MAX,
    underWayMax: env.ADDRESS_LOGINS_MAX,
    refusal: () => tooMany(`${env.ADDRESS_LOGINS_MAX} requests of this address wait for their API key, try again`),
  });
}
