import { ingestDeadLetterHeaders } from '../../../shared/contracts/events/dead-letter.ts';
import { quarantineHeaders } from '../../../shared/contracts/events/quarantine.ts';
import { ingestDeadLetterSubject, quarantineSubject } from '../../../shared/contracts/subjects.ts';
import { builtInRules } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { ResolverContext } from './resolver-context.ts';

/** An ingest line or a whole ingest frame that cannot be processed, or a line that is quarantined. */
export type IngestDeadLetter = {
  readonly payload: Uint8Array;
  readonly reason: string;
  /** Sequence of the frame in the ingest stream. */
  readonly seq: number;
  /** Index of the line in the frame; undefined if the dead letter is the whole frame. */
  readonly line: number | undefined;
  /** Undefined for a whole frame, which may have events of several accounts, and for a line without an account. */
  readonly accountId?: string | undefined;
  /** Rules of the account's tracking plan that quarantine the event; undefined for a dead letter. */
  readonly rules?: readonly string[];
  /**
   * Called once the event is in quarantine; not called if an earlier resolver put it there and ended before it
   * acknowledged the frame.
   */
  readonly onHeld?: () => void;
};

const reasonLengthMax = 500;
const headerBytesMax = 4_096;

/**
 * Stores unprocessable lines and frames in the dead-letter log, with the reason, and quarantined events in the
 * quarantine.
 */
export async function keepDeadLetters(context: ResolverContext, letters: readonly IngestDeadLetter[]): Promise<void> {
  for (const letter of letters) {
    const { accountId, rules } = letter;
    if (rules !== undefined && accountId !== undefined) {
      await quarantine(context, letter, accountId, rules);
      continue;
    }
    const origin = letter.line === undefined ? String(letter.seq) : `${letter.seq}.${letter.line}`;
    context.logger.warn(
      { partition: context.partition, origin, reason: letter.reason },
      'kept a dead letter of ingest',
    );
    const partBytes = context.connection.messageBytesMax - headerBytesMax;
    const parts = Math.max(1, Math.ceil(letter.payload.length / partBytes));
    for (let part = 0; part < parts; part += 1) {
      await context.writer.publish({
        subject: ingestDeadLetterSubject(context.partition, accountId),
        payload: letter.payload.subarray(part * partBytes, (part + 1) * partBytes),
        msgId: `ingest.${origin}.${part}`,
        headers: {
          [ingestDeadLetterHeaders.reason]: headerText(letter.reason),
          [ingestDeadLetterHeaders.origin]: origin,
          ...(parts > 1 ? { [ingestDeadLetterHeaders.part]: `${part + 1}/${parts}` } : {}),
        },
      });
    }
    context.counts.dead_letters += 1;
  }
}

/** Maximum number of rules named in an event's header; others are only counted. */
const rulesMax = 20;

async function quarantine(
  { partition, writer, counts }: ResolverContext,
  { payload, seq, line, onHeld }: IngestDeadLetter,
  accountId: string,
  rules: readonly string[],
): Promise<void> {
  const { duplicate } = await writer.publish({
    subject: quarantineSubject(accountId, rules[0] ?? builtInRules.tooCostly, partition),
    payload,
    msgId: `quarantine.${partition}.${seq}.${line ?? ''}`,
    headers: { [quarantineHeaders.rules]: rules.slice(0, rulesMax).join(',') },
  });
  if (duplicate) return;
  counts.quarantined += 1;
  onHeld?.();
}

// A header value is one line of printable text.
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, reasonLengthMax);
}
