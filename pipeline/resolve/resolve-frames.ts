import type { StoredMessage } from '../../shared/log/unfinished-messages.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { encodeEvent } from './encode-event.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { readCandidates } from './read-candidates.ts';
import type { Candidate } from './read-candidates.ts';
import { readTouch } from './read-event.ts';
import { resolveVisitors } from './resolve-visitors.ts';
import type { ResolverContext } from './resolver-context.ts';

/** What a few ingest frames became. */
export type ResolvedFrames = {
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
};

/** Bytes a message needs beside its events: headers but the ids, and the ids of a single event. */
const messageOverheadBytes = 4_096;

/** Turns ingest frames into resolved events: each new, wanted event with its visitor, in order. */
export async function resolveFrames(
  context: ResolverContext,
  ingested: readonly StoredMessage[],
): Promise<ResolvedFrames> {
  const deadLetters: IngestDeadLetter[] = [];
  const candidates = ingested.flatMap((frame) => readCandidates(context, frame, deadLetters));
  const touches = candidates.map(({ envelope }) => readTouch(envelope));
  const outcomes = await resolveVisitors(context, touches);
  const payloadMax = (context.connection.nc.info?.max_payload ?? 1024 * 1024) - messageOverheadBytes;
  const outgoing = new OutgoingFrames(Math.min(context.settings.frameBytesMax, Math.floor(payloadMax / 2)));
  candidates.forEach((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome.kind === 'erased') {
      context.counts.erased_dropped += 1;
    } else if (outcome.kind === 'refused') {
      deadLetters.push(deadLetterOf(candidate, outcome.reason));
    } else {
      const line = encodeEvent(candidate, outcome.id, outcome.properties);
      const bytes = Buffer.byteLength(line);
      if (bytes > payloadMax) deadLetters.push(deadLetterOf(candidate, 'too large with its visitor'));
      else outgoing.add(candidate.envelope.account, line, bytes, candidate.hash);
    }
  });
  return { frames: outgoing.finish(), deadLetters };
}

function deadLetterOf({ origin, text }: Candidate, reason: string): IngestDeadLetter {
  return { payload: Buffer.from(text), reason, seq: origin.seq, line: origin.line };
}
