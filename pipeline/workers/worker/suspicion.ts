/** Sequences of frames in the log, both included. */
export type FrameRange = { readonly from: number; readonly to: number };

/** What the deaths of its threads say of the frames of an actor. */
export type Suspicion = {
  /** An actor died with one of these: they are worked on one at a time. */
  readonly watched: FrameRange | undefined;
  /** Actors died twice with each of these: they are kept as dead letters, and not worked on. */
  readonly setAside: readonly number[];
};

export const noSuspicion: Suspicion = { watched: undefined, setAside: [] };

/** What a frame that was set aside is said to have done. */
export const setAsideReason = 'set aside: its thread died twice while it worked on this frame';

/** Frames to be set aside that are remembered for one actor: it is done with the first of them long before. */
const setAsideMax = 1_000;

/**
 * What is suspected after the thread of an actor died while it worked on some frames. The first death has them watched.
 * One of them that is worked on by itself in another death is set aside, which makes two.
 */
export function suspectAfterDeath(before: Suspicion, frames: FrameRange | undefined): Suspicion {
  if (frames === undefined) return before;
  const { watched, setAside } = before;
  const isKnown = watched !== undefined && frames.from === frames.to && isWithin(watched, frames.to);
  if (isKnown) return { watched, setAside: [...setAside, frames.to].slice(-setAsideMax) };
  const [from, to] =
    watched === undefined
      ? [frames.from, frames.to]
      : [Math.min(watched.from, frames.from), Math.max(watched.to, frames.to)];
  return { watched: { from, to }, setAside };
}

function isWithin({ from, to }: FrameRange, seq: number): boolean {
  return seq >= from && seq <= to;
}

/** The sequences of frames as the log hands them out; undefined for none. */
export function rangeOf(frames: readonly { readonly seq: number }[]): FrameRange | undefined {
  if (frames.length === 0) return undefined;
  const seqs = frames.map(({ seq }) => seq);
  return { from: Math.min(...seqs), to: Math.max(...seqs) };
}
