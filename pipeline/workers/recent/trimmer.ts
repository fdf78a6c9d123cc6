import { failureFields } from '../worker/failure-fields.ts';
import type { RecorderContext } from './recorder-context.ts';
import { accountsInView, trimByAge, trimByCount, trimEventsMax } from './trim-recent-events.ts';

/** Keeps the view within its bounds, now and then. */
export type Trimmer = {
  /** Events of an account were added: it may be over its share soon. */
  noteAdded(accountId: string, events: number): void;
  /** Ends it after the statement under way. */
  stop(): Promise<void>;
};

/** An account is counted again once this part of its share was added. */
const uncountedPart = 1 / 20;

/** Starts trimming. A failure is counted and tried again the next time. */
export function startTrimmer(context: RecorderContext): Trimmer {
  const { pool, settings, counts, logger } = context;
  const addedSince = new Map<string, number>();
  // Each account is counted once after a start, since what was added before is not known.
  const counted = new Set<string>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let skippedBefore = 0;

  const trimAccount = async (accountId: string): Promise<void> => {
    counts.trimmed += await trimByAge(pool, accountId, settings, Date.now());
    const added = addedSince.get(accountId) ?? 0;
    if (counted.has(accountId) && added < settings.eventsMax * uncountedPart) return;
    addedSince.delete(accountId);
    const trimmed = await trimByCount(pool, accountId, settings);
    counts.trimmed += trimmed;
    // With more left than one trim takes, the account is counted again.
    if (trimmed < trimEventsMax) counted.add(accountId);
    else counted.delete(accountId);
  };
  const trim = async (): Promise<void> => {
    for (const accountId of await accountsInView(pool)) {
      if (stopped) return;
      await trimAccount(accountId);
    }
  };
  const reportSkipped = (): void => {
    const skipped = counts.skipped_sampled + counts.skipped_behind;
    if (skipped > skippedBefore) {
      logger.warn(
        { events: skipped - skippedBefore },
        'the recent-events view holds a sample: more comes than it takes',
      );
    }
    skippedBefore = skipped;
  };
  const turn = async (): Promise<void> => {
    reportSkipped();
    try {
      await trim();
    } catch (error) {
      counts.trim_failures += 1;
      logger.warn(failureFields(error), 'trimming the recent-events view failed');
    }
    schedule();
  };
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = turn();
    }, settings.trimEveryMs);
  };

  schedule();
  return {
    noteAdded(accountId, events) {
      addedSince.set(accountId, (addedSince.get(accountId) ?? 0) + events);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
