import { accountOfLine, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { frameLines } from '../../../shared/contracts/events/frame.ts';
import { Turns } from '../worker/turns.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import type { StoredFrame, WaitingEvents } from './waiting-events.ts';

type ReadContext = Pick<ResolverContext, 'counts' | 'beginTurn'>;

/**
 * Cuts ingest frames into their events and has those wait, each with its account. Nothing else is looked at yet, so that
 * whoever sent little is found behind however much another one has sent. A frame that cannot be cut is kept as it is.
 */
export async function readFrames<Frame extends StoredFrame>(
  context: ReadContext,
  frames: readonly Frame[],
  { waiting, unfinished }: { readonly waiting: WaitingEvents; readonly unfinished: UnfinishedFrames<Frame> },
): Promise<void> {
  const { counts } = context;
  const turns = new Turns(() => context.beginTurn());
  for (const frame of frames) {
    unfinished.open(frame);
    const letters: IngestDeadLetter[] = [];
    const lines = linesOf(frame, letters);
    counts.events += lines.length;
    for (const [line, text] of lines.entries()) {
      unfinished.add(frame);
      waiting.add({ origin: { frame, line }, accountId: accountOfLine(text) ?? readAccount(text, counts), text });
    }
    if (letters.length > 0) {
      unfinished.add(frame);
      waiting.addLetters({ frame, letters });
    }
    unfinished.close(frame);
    const over = turns.spend(lines.length * unitsAnEvent);
    if (over !== undefined) await over;
  }
}

/** What cutting one out costs, as `Turns` counts. */
const unitsAnEvent = 64;

/** The lines of a frame; of one that is none, all of it is a letter. */
function linesOf({ data, seq }: StoredFrame, letters: IngestDeadLetter[]): readonly string[] {
  try {
    return frameLines(data);
  } catch (error) {
    letters.push({
      payload: data,
      reason: error instanceof Error ? error.message : String(error),
      seq,
      line: undefined,
    });
    return [];
  }
}

/** The account of a line that is laid out otherwise; those that cannot be read wait together. */
function readAccount(text: string, counts: Pick<ResolverContext['counts'], 'accounts_parsed'>): string {
  counts.accounts_parsed += 1;
  try {
    return readEnvelope(text).account;
  } catch {
    return '';
  }
}
