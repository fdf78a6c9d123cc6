import { UnfitEventError } from './define.ts';
import type { SentEvent } from './sent-event.ts';

const dayMs = 86_400_000;

/**
 * Throws UnfitEventError for an event that is older than the platform takes: such an event would have it refuse
 * everything in the same request.
 */
export function checkAge(event: SentEvent, nowMs: number, daysMax: number): void {
  if (nowMs - event.timeMs > daysMax * dayMs) throw new UnfitEventError(`the event is older than ${daysMax} days`);
}

/** Seconds since the epoch. */
export function secondsOf(event: SentEvent): number {
  return Math.floor(event.timeMs / 1_000);
}
