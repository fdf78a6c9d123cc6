/**
 * How often the delay of the event loop of a main thread is measured, in ms; what is measured contains it. Each time the
 * process wakes up: every 10 ms, which is usual, took 0.3 % of a core for each loop of an idle installation.
 */
export const loopDelayEveryMs = 1_000;
