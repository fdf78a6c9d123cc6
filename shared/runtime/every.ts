/** A repeated task. */
export type Periodic = {
  /** Stops the repetition; resolves when the current run has ended. */
  stop(): Promise<void>;
};

/** Interval of the ticks that tasks share, in ms. */
export const tickMs = 500;

/**
 * Calls `run` every `periodMs` until stopped; `atOnce` also calls it now. `run` must handle its own errors. Tasks of a
 * thread share ticks, so that an idle thread wakes up only twice per second: `periodMs` is rounded down to a multiple
 * of `tickMs`, but a period shorter than a tick has its own timer. Turns are skipped while a run is not finished, and
 * turns lost while the process stands still are not made up for. The timers do not keep the process alive.
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
  // If ticks are running, the next tick may be due at once: with one tick more, the first turn is up to a tick late,
  // never early.
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
