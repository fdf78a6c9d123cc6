import { isId } from '../../../shared/contracts/subjects.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import type { ResolverCounts } from './resolver-context.ts';
import type { WaitingEvent } from './waiting-events.ts';

/** How an event that is not resolved ends, and why. */
export type Leaving =
  | { readonly kind: 'drop'; readonly reason: keyof typeof counterOfDrop }
  | { readonly kind: 'deadLetter'; readonly letter: IngestDeadLetter };

const counterOfDrop = {
  duplicate: 'duplicates',
  bot: 'bots_dropped',
  notAllowed: 'not_allowed_dropped',
  erased: 'erased_dropped',
  plan: 'plan_dropped',
} as const satisfies Readonly<Record<string, keyof ResolverCounts>>;

// Shared objects, since many events may be dropped.
export const drops = {
  duplicate: { kind: 'drop', reason: 'duplicate' },
  bot: { kind: 'drop', reason: 'bot' },
  notAllowed: { kind: 'drop', reason: 'notAllowed' },
  erased: { kind: 'drop', reason: 'erased' },
  plan: { kind: 'drop', reason: 'plan' },
} as const;

/** Makes a dead letter of the event as it was accepted, with a reason. */
export function letterOf(event: WaitingEvent, reason: string): Leaving {
  return { kind: 'deadLetter', letter: { ...lineOf(event), reason } };
}

/** Quarantines the event as it was accepted, with the rules that require it. */
export function heldBy(event: WaitingEvent, rules: readonly string[], onHeld: () => void): Leaving {
  return { kind: 'deadLetter', letter: { ...lineOf(event), reason: 'quarantined', rules, onHeld } };
}

function lineOf({ origin, accountId, bytes, start, end }: WaitingEvent): Omit<IngestDeadLetter, 'reason'> {
  const { frame, line } = origin;
  const account = isId(accountId) ? { accountId } : {};
  return { payload: bytes.subarray(start, end), seq: frame.seq, line, ...account };
}

/** Counts an event that is dropped, or adds its dead letter to `letters`, to be counted once it is stored. */
export function leave(counts: ResolverCounts, step: Leaving, letters: IngestDeadLetter[]): void {
  switch (step.kind) {
    case 'drop':
      counts[counterOfDrop[step.reason]] += 1;
      return;
    case 'deadLetter':
      letters.push(step.letter);
  }
}
