import { headOf } from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import { otherRow } from '../../../../shared/contracts/step-counts.ts';
import { quarantineReason } from '../../worker/suspicion.ts';
import { lineOf, readWholeLine } from '../events/read-event.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import { retryLine } from '../sources/dispatch-item.ts';
import type { Untried } from '../sources/untried.ts';
import type { DeadLetterWriter } from './dead-letter-writer.ts';
import type { OutcomeObserver } from './outcome-observer.ts';
import { recordSkipped } from './record-skipped.ts';

export type KeepUntriedOptions = {
  readonly deadLetters: Pick<DeadLetterWriter, 'add' | 'addUnreadable'>;
  readonly health: Pick<HealthKeeper, 'skipped' | 'countMove'>;
  readonly observe: OutcomeObserver;
  /** Whether the event's visitor was erased after the event was received; if so, nothing of the event is stored. */
  readonly isErased: (head: EventHead) => boolean;
  readonly counts: Record<
    'dead_letters' | 'dead_letters_unreadable' | 'dead_letters_set_aside' | 'erased' | 'missed_events',
    number
  >;
};

const setAside = 'dead set_aside';

/** Settles once the item is a dead letter, or recorded as skipped. Repeated calls store one dead letter only. */
export type KeepUntried = (untried: Untried) => Promise<void>;

/** Stores events that cannot be tried. */
export function createKeepUntried(options: KeepUntriedOptions): KeepUntried {
  return async (untried) => {
    switch (untried.kind) {
      case 'unreadable line': {
        const data = typeof untried.data === 'string' ? Buffer.from(untried.data) : untried.data;
        return keepUnreadable(options, data, 'not a resolved event this build knows');
      }
      case 'unreadable frame':
        return keepUnreadable(options, untried.data, untried.problem);
      case 'gone':
        recordSkipped(options, 'event_removed', untried.receivedAtMs);
        // The name of the event is unknown, since the event is gone.
        options.health.countMove({ ...nameless, receivedAtMs: untried.receivedAtMs }, untried.stage, 'skipped');
        return;
      case 'quarantined frame':
        return keepFrame(options, untried.message);
      case 'quarantined event':
        return keepEvent(options, untried);
    }
  };
}

async function keepUnreadable(options: KeepUntriedOptions, data: Uint8Array, problem: string): Promise<void> {
  options.counts.dead_letters += 1;
  options.counts.dead_letters_unreadable += 1;
  const isKept = await options.deadLetters.addUnreadable(data, problem);
  if (!isKept) recordSkipped(options, 'dead_letters_full', Date.now());
}

const nameless = { name: otherRow, sourceId: otherRow };

type Of<Kind extends Untried['kind']> = Extract<Untried, { readonly kind: Kind }>;

/** Stores each line of a quarantined frame of the account's log as a dead letter. */
async function keepFrame(
  options: KeepUntriedOptions,
  { seq, data, storedAtMs }: Of<'quarantined frame'>['message'],
): Promise<void> {
  const { counts, deadLetters, isErased, health } = options;
  const times = { firstAttemptAt: storedAtMs, lastAttemptAt: Date.now() };
  const frame = ResolvedFrame.open(data);
  const count = (): void => {
    counts.dead_letters += 1;
    counts.dead_letters_set_aside += 1;
  };
  if (frame === undefined) {
    count();
    if (!(await deadLetters.addUnreadable(data, quarantineReason)))
      recordSkipped(options, 'dead_letters_full', storedAtMs);
    return;
  }
  const keep = (index: number): Promise<boolean> => {
    const event = readWholeLine(frame, index);
    if (event !== undefined && isErased(headOf(event))) {
      counts.erased += 1;
      return Promise.resolve(true);
    }
    count();
    if (event === undefined) return deadLetters.addUnreadable(Buffer.from(frame.textAt(index)), quarantineReason);
    health.countMove(headOf(event), 'log', setAside);
    const origin = { seq, line: index };
    const letter = { attempts: 0, ...times, reason: quarantineReason, origin, event: frame.lineAt(index) };
    return deadLetters.add(letter, event.event.id, `events ${seq}.${index}`);
  };
  const kept = await Promise.all(Array.from({ length: frame.length }, (_, index) => keep(index)));
  for (const isKept of kept) if (!isKept) recordSkipped(options, 'dead_letters_full', storedAtMs);
}

async function keepEvent(options: KeepUntriedOptions, { event, about }: Of<'quarantined event'>): Promise<void> {
  const { counts, deadLetters, observe, isErased, health } = options;
  const { readFrom, stage, attempted, lastAttemptAt = Date.now(), request, origin } = about;
  const { head } = event;
  if (isErased(head)) {
    counts.erased += 1;
    return;
  }
  counts.dead_letters += 1;
  counts.dead_letters_set_aside += 1;
  health.countMove(head, stage, setAside);
  observe({ head }, 'rejected', attempted.attempts, quarantineReason);
  const { attempts, firstAttemptAtMs: firstAttemptAt = lastAttemptAt } = attempted;
  const made = { attempts, firstAttemptAt, lastAttemptAt, ...(request === undefined ? {} : { request }) };
  const own = origin === undefined ? {} : { origin };
  const letter = { ...made, reason: quarantineReason, ...own, event: lineOf(event) };
  const isKept = await deadLetters.add(letter, head.id, retryLine(readFrom));
  if (!isKept) recordSkipped(options, 'dead_letters_full', head.receivedAtMs, firstAttemptAt);
}
