/**
 * Interval at which the event loop delay of a main thread is measured, in ms; each measured value includes it. Each
 * measurement wakes the process: an interval of 10 ms, the default, took 0.3 % of a core per idle event loop.
 */
export const loopDelayEveryMs = 1_000;
