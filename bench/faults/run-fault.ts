import { processMemoryBytes } from '../machine/process-use.ts';
import { sleep } from '../machine/wait-until.ts';
import { kill } from './stack/actions.ts';
import { pickOf } from './chaos/chaos.ts';
import { meansHere, obstacleTo } from './families/fault.ts';
import type { Fault, FaultContext, FaultDisks } from './families/fault.ts';
import { judge } from './judge/judge.ts';
import type { Evidence, Verdict } from './judge/judge.ts';
import { mountBlockDisk } from './stack/block-disk.ts';
import { mountLogDisk } from './stack/log-disk.ts';
import { servicesOf, withStack } from './stack/stack.ts';
import { createWithheld } from './stack/withheld.ts';
import type { FaultStack } from './stack/stack.ts';
import { startLoad } from './visitors.ts';
import type { Load } from './visitors.ts';

export type FaultOptions = {
  /** Duration of the load apart from the fault itself, in seconds: a third before the fault, the rest after it. */
  readonly seconds: number;
  readonly ratePerS: number;
  readonly seed: number;
  readonly isKept: boolean;
  /** Folder with a built checkout of another version. */
  readonly previous: string | undefined;
};

export type FaultRun = {
  readonly verdict: Verdict;
  /** How long the fault lasted, in ms. */
  readonly faultMs: number;
  /** From the end of the load until every acknowledged event had arrived; NaN if one is missing. */
  readonly drainMs: number;
  /** Events that arrived only after this run had killed every process: stored, but stuck. */
  readonly stuck: number;
  /** Peak of the total resident memory of the services. */
  readonly peakMemoryBytes: number;
  /** Problem that the fault's own check or the check of withheld events found. */
  readonly problem: string | undefined;
  /** What this run did not do or check, although the fault's description says so. */
  readonly remarks: readonly string[];
};

export type FaultOutcome =
  | { readonly kind: 'ran'; readonly run: FaultRun }
  | { readonly kind: 'skipped'; readonly why: string }
  /** The stack did not start, or the fault could not be caused: no result. */
  | { readonly kind: 'failed'; readonly why: string };

export type Surroundings = {
  readonly natsPath: string;
  say(line: string): void;
};

const visitors = 40;
const beforeShare = 1 / 3;
const recoverDeadlineMs = 60_000;
const drainDeadlineMs = 180_000;
/** Quiet time after which missing events count as lost: the next retry may be nearly this far away. */
const drainQuietMs = 45_000;
const settleMs = 2_000;
const pollMs = 250;
const memoryEveryMs = 250;

/** Runs a fault on a new stack and judges the result after the last delivery. */
export async function runFault(fault: Fault, options: FaultOptions, around: Surroundings): Promise<FaultOutcome> {
  const { previous, isKept } = options;
  const why = obstacleTo(fault, meansHere(previous));
  if (why !== undefined) return { kind: 'skipped', why };
  const { shape, disk } = fault;
  let disks: Partial<FaultDisks> = {};
  const prepare = async (folder: string): Promise<() => Promise<void>> => {
    disks = await mountDisk(disk, folder);
    return async () => (disks.memory ?? disks.block)?.remove();
  };
  const checkout = fault.beginsWithPrevious === true ? previous : undefined;
  try {
    const run = await withStack({ ...around, prepare, shape, checkout, isKept }, (stack) =>
      runOn(stack, fault, options, { ...around, disks }),
    );
    return { kind: 'ran', run };
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

async function mountDisk(disk: Fault['disk'], folder: string): Promise<Partial<FaultDisks>> {
  switch (disk?.kind) {
    case undefined:
      return {};
    case 'memory':
      return { memory: await mountLogDisk(folder, disk.mib) };
    case 'block':
      return { block: await mountBlockDisk(folder, disk.mib) };
  }
}

/** The disks that a fault requested; reading any other disk throws. */
const askedFor = (disks: Partial<FaultDisks>): FaultDisks => ({
  get memory() {
    if (disks.memory === undefined) throw new Error('the fault did not request a disk in memory');
    return disks.memory;
  },
  get block() {
    if (disks.block === undefined) throw new Error('the fault did not request a block device');
    return disks.block;
  },
});

type Within = Surroundings & { readonly disks: Partial<FaultDisks> };

// Large: one run of a fault from start to end.
async function runOn(stack: FaultStack, fault: Fault, options: FaultOptions, within: Within): Promise<FaultRun> {
  const { say, disks } = within;
  const { seconds, ratePerS, seed } = options;
  const { url, steady, troubled } = stack;
  const destinations = [steady, troubled];
  for (const each of destinations) each.behave({ kind: 'take', afterMs: fault.answerAfterMs ?? 0 });
  const remarks: string[] = [];
  // An earlier version does not guarantee that withheld events stay undelivered.
  if (fault.beginsWithPrevious === true) remarks.push('withheld events not checked');
  const withheld = fault.beginsWithPrevious === true ? undefined : await createWithheld(stack, visitors + 1);
  const load = startLoad({ url, token: () => stack.token, visitors, ratePerS, seed });
  const memory = watchMemory(stack);
  let mayMissUntilMs: number | undefined;
  const context: FaultContext = {
    stack,
    say,
    pick: (parts) => pickOf(parts, 0),
    disk: askedFor(disks),
    previous: options.previous ?? '',
    mayMissUntilNow() {
      mayMissUntilMs = performance.now();
    },
    remark: (text) => void remarks.push(text),
  };
  try {
    await sleep(seconds * 1_000 * beforeShare);
    await withheld?.begin();
    const beganMs = performance.now();
    let isOver = false;
    const during = fault.destroys === true ? undefined : withheld;
    const withdrawn = Promise.allSettled([during?.during(() => isOver)]);
    await fault.run(context);
    isOver = true;
    const overMs = performance.now();
    await sleep(seconds * 1_000 * (1 - beforeShare));
    await untilAcknowledged(load, overMs);
    const stoppedMs = performance.now();
    await load.stop();
    for (const each of destinations) each.behave({ kind: 'take' });
    const { entries, refusals, answers } = load.ledger;
    const evidence = (): Evidence => ({
      entries,
      refusals,
      answers,
      arrivals: Object.fromEntries(destinations.map(({ name, taken }) => [name, taken])),
      ...withheld?.evidence(),
      overMs,
      stoppedMs,
      ...(mayMissUntilMs === undefined ? {} : { mayMissUntilMs }),
    });
    const drainMs = await drain(evidence);
    await sleep(settleMs);
    for (const one of await withdrawn) if (one.status === 'rejected') throw one.reason;
    const problem = (await during?.finish()) ?? (await fault.check?.(context, judge(evidence())));
    const missing = countLost(evidence());
    if (missing > 0) {
      say(`${missing} events did not arrive: restarting every process to see whether they are stored`);
      // The fault may have left a process down for good, such as a primary that failed over.
      await kill(...[...stack.log, stack.postgres, ...servicesOf(stack)].filter(({ pid }) => pid !== 0));
      await drain(evidence);
    }
    return {
      verdict: judge(evidence()),
      faultMs: overMs - beganMs,
      drainMs,
      stuck: missing - countLost(evidence()),
      peakMemoryBytes: await memory.stop(),
      problem,
      remarks,
    };
  } finally {
    await load.stop();
    await memory.stop();
    await withheld?.close();
  }
}

/**
 * Waits until a request sent after the fault was acknowledged, or until the deadline. Visitors continue to send events.
 */
async function untilAcknowledged({ ledger }: Load, overMs: number): Promise<void> {
  const deadline = overMs + recoverDeadlineMs;
  while (performance.now() < deadline && !ledger.answers.some(({ sentMs }) => sentMs >= overMs)) await sleep(pollMs);
}

/** Waits until every acknowledged event has arrived everywhere. Returns the time in ms; NaN if progress stops. */
async function drain(evidence: () => Evidence): Promise<number> {
  const beganMs = performance.now();
  let least = Number.POSITIVE_INFINITY;
  let lastMs = beganMs;
  for (;;) {
    const nowMs = performance.now();
    const { destinations } = judge(evidence());
    const missing = Object.values(destinations).reduce((sum, { lost, destroyed }) => sum + lost + destroyed, 0);
    if (missing === 0) return nowMs - beganMs;
    // A duplicate is not progress.
    if (missing < least) [least, lastMs] = [missing, nowMs];
    if (nowMs - lastMs > drainQuietMs || nowMs - beganMs > drainDeadlineMs) return Number.NaN;
    await sleep(pollMs);
  }
}

/** Number of missing events at the destination that misses the most. */
function countLost(evidence: Evidence): number {
  return Math.max(...Object.values(judge(evidence).destinations).map(({ lost }) => lost));
}

/** Samples the total resident memory of the services; `stop` returns the peak in bytes. */
function watchMemory(stack: FaultStack): { stop(): Promise<number> } {
  let peak = 0;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const resident = await Promise.all(servicesOf(stack).map(({ pid }) => processMemoryBytes(pid)));
      peak = Math.max(
        peak,
        resident.reduce((sum, bytes) => sum + bytes, 0),
      );
      await sleep(memoryEveryMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      return peak;
    },
  };
}
