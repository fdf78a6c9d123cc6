/**
 * Interval at which the event loop delay of a main thread is measured, in ms; the delay is measured within it. Each
 * measurement wakes the process: the usual 10 ms took 0.3 % of a core for each loop of an idle installation.
 */
export const loopDelayEveryMs = 1_000;
