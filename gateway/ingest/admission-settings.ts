import { count } from '../../shared/runtime/variables.ts';

const dayMs = 86_400_000;

export const admissionEnv = {
  RATE_LIMIT_EVENTS_PER_S: count('Events per second of one source key', 10_000),
  RATE_LIMIT_BURST_S: count('How many seconds of those events may come at once', 2, { unit: 's' }),
  TIME_PAST_MS_MAX: count("How far back an event's time may lie", 7 * dayMs, { unit: 'ms' }),
  TIME_AHEAD_MS_MAX: count("How far ahead an event's time may lie", 300_000, { unit: 'ms', minimum: 0 }),
};
