import { createEgressRules } from '../../shared/egress/egress-rules.ts';
import type { EgressRanges } from '../../shared/egress/egress-rules.ts';
import type { TokenSource } from '../../shared/egress/oauth/token-source.ts';
import { createDestinationSenders } from '../../shared/egress/protocols/destination-senders.ts';
import type { Sender } from '../../shared/egress/sender.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';
import { defineService } from '../api/services.ts';
import { tooMany } from '../api/api-error.ts';
import { runDestinationTest } from './run-test.ts';
import type { DestinationTest, DestinationTestResult } from './run-test.ts';

/** Sends test events to destinations, a limited number at a time, and counts the outcomes. */
export type DestinationTests = {
  /** Runs a test now. Throws a 429 at the limit of concurrent tests. */
  run(accountId: string, test: DestinationTest): Promise<DestinationTestResult>;
  readonly running: number;
  readonly counts: Readonly<Record<DestinationTestResult['outcome'] | 'refused', number>>;
  /** Closes the connections of the tests that are still running. */
  stop(): Promise<void>;
};

export const destinationTests = defineService<DestinationTests>('destination tests');

export const { variables: destinationTestsEnv, read: readDestinationTestSettings } = defineSettings({
  /** From the first byte of a request to the last byte of its answer. */
  timeoutMs: fromEnv({
    DESTINATION_TEST_TIMEOUT_MS: count('How long the test of a destination may take', 10_000, {
      unit: 'ms',
      minimum: 100,
    }),
  }),
});

export type DestinationTestsOptions = ReturnType<typeof readDestinationTestSettings> & {
  /** Addresses that destinations may have: the same as in the pipeline. */
  readonly egress: EgressRanges;
  /** The token source that the pipeline uses too, because a refresh token may be valid for a single use. */
  readonly tokens: TokenSource;
};

const connectTimeoutMs = 3_000;
/** Maximum number of tests that run at the same time, of all accounts and of one account. */
const runningMax = 8;
const runningOfAccountMax = 2;

/** Each test opens its own connection, so that it shows whether a new connection works. */
export function createDestinationTests(options: DestinationTestsOptions): DestinationTests {
  const { timeoutMs, tokens } = options;
  const rules = createEgressRules(options.egress.allowed, options.egress.denied);
  const limits = {
    connectionsMax: 1,
    connectTimeoutMs: Math.min(connectTimeoutMs, timeoutMs),
    headersTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
  };
  const running = new Map<Sender, string>();
  const counts = { delivered: 0, dropped: 0, retry: 0, held: 0, reject: 0, skipped: 0, refused: 0 };
  return {
    counts,
    get running() {
      return running.size;
    },
    async run(accountId, test) {
      const ofAccount = [...running.values()].filter((one) => one === accountId).length;
      if (running.size >= runningMax || ofAccount >= runningOfAccountMax) {
        counts.refused += 1;
        throw tooMany('too many destinations are being tested; try again when one of the tests is over');
      }
      const sender = createDestinationSenders({ rules, limits, tokens }).create(accountId);
      running.set(sender, accountId);
      try {
        const result = await runDestinationTest(test, sender);
        counts[result.outcome] += 1;
        return result;
      } finally {
        running.delete(sender);
        await sender.close();
      }
    },
    async stop() {
      await Promise.all([...running.keys()].map((sender) => sender.close()));
    },
  };
}
