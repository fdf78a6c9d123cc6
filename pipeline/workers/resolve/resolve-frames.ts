import { frameLines, lineDepthMax } from '../../../shared/contracts/events/frame.ts';
import { textNestsDeeper } from '../../../shared/runtime/json-depth.ts';
import type { VisitorOutcome } from '../../../shared/visitors/visitor-store.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { withVisitor } from './encode-event.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { readCandidates } from './read-candidates.ts';
import type { Candidate, StoredFrame } from './read-candidates.ts';
import { resolveVisitors } from './resolve-visitors.ts';
import type { ResolverContext } from './resolver-context.ts';

/** What a few ingest frames became. */
export type ResolvedFrames = {
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
};

type ResolvedOutcome = Extract<VisitorOutcome, { kind: 'resolved' }>;

/** Bytes a message needs beside its events: headers but the ids, and the ids of a single event. */
const messageOverheadBytes = 4_096;

/** Turns ingest frames into resolved events: each new, wanted event with its visitor, in order. */
export async function resolveFrames(
  context: ResolverContext,
  ingested: readonly StoredFrame[],
): Promise<ResolvedFrames> {
  const deadLetters: IngestDeadLetter[] = [];
  const candidates = ingested.flatMap((frame) => readCandidates(context, frame, deadLetters));
  const outcomes = await resolveVisitors(
    context,
    candidates.map(({ touch }) => touch),
  );
  const payloadMax = (context.connection.nc.info?.max_payload ?? 1024 * 1024) - messageOverheadBytes;
  const outgoing = new OutgoingFrames(Math.min(context.settings.frameBytesMax, Math.floor(payloadMax / 2)));
  candidates.forEach((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome.kind === 'erased') {
      context.counts.erased_dropped += 1;
    } else if (outcome.kind === 'refused') {
      deadLetters.push(deadLetterOf(candidate, outcome.reason));
    } else {
      const line = lineOrReason(candidate, outcome, payloadMax);
      if ('reason' in line) deadLetters.push(deadLetterOf(candidate, line.reason));
      else outgoing.add(candidate.touch.accountId, line.text, line.bytes, candidate.hash);
    }
  });
  return { frames: outgoing.finish(), deadLetters };
}

type Line = { readonly text: string; readonly bytes: number } | { readonly reason: string };

function lineOrReason(candidate: Candidate, { id, properties }: ResolvedOutcome, bytesMax: number): Line {
  // An event that was read is not too deep; what its visitor was given by an earlier build may be.
  if (textNestsDeeper(properties.text, lineDepthMax - 1)) {
    return { reason: `nests deeper than ${lineDepthMax} levels with its visitor` };
  }
  const text = withVisitor(candidate.json, id, properties);
  const bytes = Buffer.byteLength(text);
  return bytes > bytesMax ? { reason: 'too large with its visitor' } : { text, bytes };
}

function deadLetterOf({ origin: { frame, line } }: Candidate, reason: string): IngestDeadLetter {
  return { payload: Buffer.from(frameLines(frame.data)[line] ?? ''), reason, seq: frame.seq, line };
}
