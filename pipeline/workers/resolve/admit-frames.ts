import { isStoppedAsBot } from '../../../shared/admission/bot-score.ts';
import { bodyBytes, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import { frameLines } from '../../../shared/contracts/events/frame.ts';
import { eventUnits, Turns } from '../worker/turns.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { encodeEvent } from './encode-event.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import { deadLetter, drops, leave } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import { readEvent, readTouch } from './read-event.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { Candidate, Origin, StoredFrame, WaitingEvents } from './waiting-events.ts';

type AdmitContext = Pick<ResolverContext, 'deduplication' | 'plans' | 'counts' | 'beginTurn'>;

/**
 * Reads the events of ingest frames and has those wait that are new and wanted. What leaves is counted, or kept with its
 * reason, and takes nothing else of its frame with it.
 */
export async function admitFrames<Frame extends StoredFrame>(
  context: AdmitContext,
  frames: readonly Frame[],
  { waiting, unfinished }: { readonly waiting: WaitingEvents; readonly unfinished: UnfinishedFrames<Frame> },
): Promise<void> {
  const turns = new Turns(() => context.beginTurn());
  for (const frame of frames) {
    unfinished.open(frame);
    const letters: IngestDeadLetter[] = [];
    const lines = linesOf(frame, letters);
    context.counts.events += lines.length;
    for (const [line, text] of lines.entries()) {
      const step = admit(context, text, { frame, line });
      if ('kind' in step) {
        leave(context.counts, step, letters);
      } else {
        unfinished.add(frame);
        waiting.add(step);
      }
      const over = turns.spend(eventUnits + text.length);
      if (over !== undefined) await over;
    }
    if (letters.length > 0) {
      unfinished.add(frame);
      waiting.addLetters({ frame, letters });
    }
    unfinished.close(frame);
  }
}

/** The lines of a frame; of one that is none, all of it is a letter. */
function linesOf({ data, seq }: StoredFrame, letters: IngestDeadLetter[]): readonly string[] {
  try {
    return frameLines(data);
  } catch (error) {
    letters.push({ payload: data, reason: reasonOf(error), seq, line: undefined });
    return [];
  }
}

/** Lets an event through that is new, and that its account's live version lets through. */
function admit(context: AdmitContext, text: string, origin: Origin): Candidate | Leaving {
  try {
    const envelope = readEnvelope(text);
    const touch = readTouch(envelope);
    const hash = hashEvent(envelope.account, envelope.id, touch.claim);
    if (!context.deduplication.add(hash, origin.frame.storedAtMs)) return drops.duplicate;
    const plan = context.plans(envelope.account) ?? openResolvePlan;
    const rules = plan.sourceRules(envelope.source);
    const event = readEvent(envelope, rules);
    // Test events are only looked at, so nothing is dropped there.
    if (envelope.test !== true) {
      if (isStoppedAsBot(rules.botControl, envelope.bot)) return drops.bot;
      if (!plan.allows(event.name)) return drops.notAllowed;
    }
    const json = encodeEvent(envelope, event, plan.versionNumber);
    return { origin, hash, json, acceptedBytes: text.length, sentBytes: bodyBytes(text, envelope), touch };
  } catch (error) {
    const { frame, line } = origin;
    return deadLetter({ payload: Buffer.from(text), reason: reasonOf(error), seq: frame.seq, line });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
