/** A repeated task. */
export type Periodic = {
  /** Stops the repetition; resolves when the current run has ended. */
  stop(): Promise<void>;
};

/** Half a second. */
export const tickMs = 500;

/**
 * Calls `run` each `periodMs`, until it is stopped. The repeated tasks of a thread run on common ticks, multiples of
 * `tickMs` rounded down, so that an idle thread wakes up twice a second however many tasks it has; a period shorter than a
 * tick has its own timer. `atOnce` also runs it now. `run` handles its own errors. Turns are skipped while a run is not
 * finished, and turns lost in a standstill are not made up for. Keeps no process alive.
 */
export function every(periodMs: number, run: () => void | Promise<void>, { atOnce = false } = {}): Periodic {
  let underWay: Promise<void> | undefined;
  const turn = (): void => {
    if (underWay !== undefined) return;
    const running = run();
    if (running === undefined) return;
    underWay = running.finally(() => {
      underWay = undefined;
    });
  };
  if (atOnce) turn();
  const stopTurns = periodMs < tickMs ? ownTimer(periodMs, turn) : onTicks(Math.floor(periodMs / tickMs), turn);
  return {
    async stop() {
      stopTurns();
      await underWay;
    },
  };
}

function ownTimer(periodMs: number, turn: () => void): () => void {
  const timer = setInterval(turn, periodMs).unref();
  return () => clearInterval(timer);
}

type Job = { readonly everyTicks: number; dueAtTick: number; readonly turn: () => void };

const jobs = new Set<Job>();
let ticks = 0;
let ticking: NodeJS.Timeout | undefined;

function onTicks(everyTicks: number, turn: () => void): () => void {
  // The next tick may be due at once: a first turn comes late rather than early.
  const dueAtTick = ticks + everyTicks + (ticking === undefined ? 0 : 1);
  const job = { everyTicks, dueAtTick, turn };
  jobs.add(job);
  ticking ??= setInterval(tick, tickMs).unref();
  return () => {
    jobs.delete(job);
    if (jobs.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

function tick(): void {
  ticks += 1;
  for (const job of jobs) {
    if (ticks < job.dueAtTick) continue;
    job.dueAtTick = ticks + job.everyTicks;
    job.turn();
  }
}
