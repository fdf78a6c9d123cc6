/** How many events a frame has, as one reader has met them of late; for readers that have met none, as all have. */
export type EventsPerFrame = {
  /** Totals of a reader so far; they begin anew when it does. */
  note(reader: string, frames: number, events: number): void;
  of(reader: string): number;
};

/** Weight of what was met since the last note. */
const newShare = 0.3;

type Known = { frames: number; events: number; mean: number };

export function createEventsPerFrame(): EventsPerFrame {
  const readers = new Map<string, Known>();
  let overall = 1;
  return {
    note(reader, frames, events) {
      const before = readers.get(reader);
      const isAnew = before === undefined || frames < before.frames;
      const newFrames = isAnew ? frames : frames - before.frames;
      const newEvents = isAnew ? events : events - before.events;
      if (newFrames <= 0) return;
      const mean = newEvents / newFrames;
      overall += (mean - overall) * newShare;
      readers.set(reader, { frames, events, mean: before === undefined ? mean : mix(before.mean, mean) });
    },
    of: (reader) => readers.get(reader)?.mean ?? overall,
  };
}

function mix(before: number, now: number): number {
  return before + (now - before) * newShare;
}
