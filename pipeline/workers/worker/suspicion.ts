/** A range of frames in a log, by the first and the last sequence. */
export type FrameRange = {
  readonly from: number;
  readonly to: number;
  /** Index of a line, set if only one line of one frame is at work, as for parked events. */
  readonly line?: number | undefined;
};

/** The frames that an actor works on in a turn: those of the log that it consumes, and those of its retry log. */
export type FramesAtWork = { readonly [Log in SuspectLog]?: FrameRange | undefined };

/** The two logs whose frames an actor works on: the log that it consumes, and its retry log if it has one. */
export const suspectLogs = ['log', 'retry'] as const;
export type SuspectLog = (typeof suspectLogs)[number];

/** A frame that actors do not work on any more; with `line`, only that line of it. */
export type QuarantinedFrame = { readonly seq: number; readonly line?: number | undefined };

/** The suspected frames of one log, after threads of an actor have died. */
export type LogSuspicion = {
  /** An actor died while it worked on at least one of these frames: they are now worked on one at a time. */
  readonly watched: FrameRange | undefined;
  /** Actors died twice while they worked on each of these frames: they become dead letters, and are not worked on. */
  readonly quarantined: readonly QuarantinedFrame[];
};

export type Suspicion = Readonly<Record<SuspectLog, LogSuspicion>>;

const nothingSuspected: LogSuspicion = { watched: undefined, quarantined: [] };

export const noSuspicion: Suspicion = { log: nothingSuspected, retry: nothingSuspected };

/** The reason in the dead letter of a quarantined frame. */
export const quarantineReason = 'quarantined: its thread died twice while it worked on this frame';

/** Maximum number of quarantined frames remembered for one actor; it is done with the oldest long before this limit. */
const quarantinedMax = 1_000;

/**
 * Returns what is suspected after the thread of an actor died while it worked on some frames. After the first death
 * these frames are worked on one at a time. If the thread dies again while a suspected frame is the only one at work,
 * that frame is quarantined.
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

/** The frame that certainly caused a death, and its log: it was suspected before, and is the only one at work. */
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
