/** Sequences of frames in a log, both included. */
export type FrameRange = {
  readonly from: number;
  readonly to: number;
  /** Set for one line of one frame: parked events are worked on one by one. */
  readonly line?: number | undefined;
};

/** The frames of an actor's turn: those of the log it consumes, and of the retry log, each by its sequences. */
export type FramesAtWork = { readonly [Log in SuspectLog]?: FrameRange | undefined };

/** The logs with an actor's frames: the one it consumes, and its retry log, where it has one. */
export const suspectLogs = ['log', 'retry'] as const;
export type SuspectLog = (typeof suspectLogs)[number];

/** A frame that is not worked on any more, or a line of it. */
export type QuarantinedFrame = { readonly seq: number; readonly line?: number | undefined };

/** The suspected frames of one log after deaths of an actor's threads. */
export type LogSuspicion = {
  /** An actor died with one of these: they are worked on one at a time. */
  readonly watched: FrameRange | undefined;
  /** Actors died twice with each of these: they are stored as dead letters, and not worked on. */
  readonly quarantined: readonly QuarantinedFrame[];
};

export type Suspicion = Readonly<Record<SuspectLog, LogSuspicion>>;

const nothingSuspected: LogSuspicion = { watched: undefined, quarantined: [] };

export const noSuspicion: Suspicion = { log: nothingSuspected, retry: nothingSuspected };

/** The reason in the dead letter of a quarantined frame. */
export const quarantineReason = 'quarantined: its thread died twice while it worked on this frame';

/** Quarantined frames remembered for one actor, which is done with the oldest long before this limit. */
const quarantinedMax = 1_000;

/**
 * The suspicion after the thread of an actor died while it worked on some frames. The first death isolates the frames.
 * A suspected frame that was alone at work at another death is quarantined.
 */
export function suspectAfterDeath(before: Suspicion, frames: FramesAtWork | undefined): Suspicion {
  if (frames === undefined) return before;
  const found = convictedBy(before, frames);
  if (found !== undefined) {
    const { log, ...frame } = found;
    const { watched, quarantined } = before[log];
    return { ...before, [log]: { watched, quarantined: [...quarantined, frame].slice(-quarantinedMax) } };
  }
  return { log: widened(before.log, frames.log), retry: widened(before.retry, frames.retry) };
}

/** The frame that a death shows to be at fault, and its log: the only frame at work, if it was suspected before. */
export function convictedBy(
  before: Suspicion,
  frames: FramesAtWork,
): (QuarantinedFrame & { log: SuspectLog }) | undefined {
  const [log, another] = suspectLogs.filter((one) => frames[one] !== undefined);
  const range = log === undefined ? undefined : frames[log];
  if (log === undefined || another !== undefined || range === undefined || range.from !== range.to) return undefined;
  const { to: seq, line } = range;
  return isWatched(before[log], seq) ? { log, seq, ...(line === undefined ? {} : { line }) } : undefined;
}

function widened(before: LogSuspicion, frames: FrameRange | undefined): LogSuspicion {
  if (frames === undefined) return before;
  const { watched, quarantined } = before;
  const { from, to } = watched ?? frames;
  return { watched: { from: Math.min(from, frames.from), to: Math.max(to, frames.to) }, quarantined };
}

export function isWatched({ watched }: LogSuspicion, seq: number): boolean {
  return watched !== undefined && seq >= watched.from && seq <= watched.to;
}

/** Whether a frame, or the given line of it, is quarantined. */
export function isQuarantined({ quarantined }: LogSuspicion, seq: number, line?: number): boolean {
  return quarantined.some((one) => one.seq === seq && (one.line === undefined || one.line === line));
}

/** The lowest and the highest sequence of frames; undefined without frames. */
export function rangeOf(frames: readonly { readonly seq: number }[]): FrameRange | undefined {
  if (frames.length === 0) return undefined;
  const seqs = frames.map(({ seq }) => seq);
  return { from: Math.min(...seqs), to: Math.max(...seqs) };
}
