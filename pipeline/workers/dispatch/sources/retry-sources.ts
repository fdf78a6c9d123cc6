import { attemptedBefore } from '../events/attempted.ts';
import { eventOfRecord } from '../events/event-of-visitor.ts';
import type { ReleasedEvent, VisitorOrder } from '../waiting/visitor-order.ts';
import { DispatchItem } from './dispatch-item.ts';
import type { FrameInFlight, FrameSource } from './frames-in-flight.ts';
import type { Inbox, UntriedRecord } from './inbox.ts';
import { frameUnits } from './log-source.ts';
import type { Quarantine } from './quarantine.ts';
import type { LoadedRecord, RetryFrame, RetryReader } from './retry-reader.ts';
import type { SourceHost } from './source-host.ts';
import { stageOf } from './stage-of.ts';
import { untriedOf } from './untried.ts';
import type { Referred, Untried } from './untried.ts';

export type RetrySourceOptions = {
  readonly inbox: Inbox;
  readonly retries: RetryReader;
  readonly quarantine: Quarantine;
  /** Undefined if the destination has order `none`. */
  readonly order: VisitorOrder | undefined;
};

/** Opens frames of the retry log, replays included, as they fall due. Ends when the reader is stopped. */
export async function openDueRetries(host: SourceHost, options: RetrySourceOptions): Promise<void> {
  const { retries, quarantine } = options;
  for await (const frame of retries.due()) {
    await quarantine.openRetry(frame.seq, () => openRetryFrame(frame, host, options));
  }
}

/** Whether events of the retry log can be sent: the breaker may have opened since they were read. */
function takesRetries(host: SourceHost, { retries }: RetrySourceOptions): boolean {
  return host.isRunning() && retries.isOpen && host.target()?.plan !== undefined;
}

/** Opens a frame. Returns it as a frame in flight if its events are to be sent. */
function openRetryFrame(frame: RetryFrame, host: SourceHost, options: RetrySourceOptions): FrameInFlight | undefined {
  const { inbox, retries, quarantine } = options;
  const { content, seq } = frame;
  host.spend(frameUnits);
  if (content.kind === 'unreadable') {
    const { data, problem } = content;
    host.hand({ untried: [{ kind: 'unreadable frame', data, problem }], finish: () => retries.finished(frame) });
  } else if (quarantine.holdsRetry(seq)) {
    handQuarantined(frame, content.records, host, options);
  } else if (takesRetries(host, options)) {
    const taken = inbox.takeRetries(frame, content.records);
    host.beginTurn();
    for (const one of taken) {
      if (one instanceof DispatchItem) host.hand(one);
      else handUntried(one, host, options);
    }
    return taken[0]?.frame;
  } else {
    retries.abandoned(frame);
  }
  return undefined;
}

/** Hands over an event that cannot be tried. Once it is stored, the next event of its visitor may be sent. */
function handUntried(
  { record, loaded, ...line }: UntriedRecord,
  host: SourceHost,
  { inbox, order }: RetrySourceOptions,
) {
  host.hand({
    untried: [untriedOf(loaded, referredBy(record, line.frame.source))],
    finish: () => {
      order?.done(eventOfRecord(record), undefined);
      inbox.settle(line);
    },
  });
}

const referredBy = ({ attempts, receivedAt }: LoadedRecord['record'], source: FrameSource): Referred => ({
  stage: stageOf(source, attempts),
  receivedAtMs: receivedAt,
});

/**
 * Hands over a quarantined frame. Later events of its visitors may then be sent. If the frame belongs to a replay, no
 * event waits for it.
 */
function handQuarantined(
  frame: RetryFrame,
  records: readonly LoadedRecord[],
  host: SourceHost,
  { retries, order }: RetrySourceOptions,
): void {
  const untried = records.map(({ index, record, loaded }): Untried => {
    const referred = referredBy(record, { kind: 'retry', frame });
    if (loaded.kind !== 'event') return untriedOf(loaded, referred);
    const { lastAttemptAt, request, origin } = record;
    const attempted = attemptedBefore(record);
    const made = {
      stage: referred.stage,
      attempted,
      lastAttemptAt,
      ...(request === undefined ? {} : { request }),
      origin,
    };
    return { kind: 'quarantined event', event: loaded.event, about: { readFrom: { seq: frame.seq, index }, ...made } };
  });
  host.hand({
    untried,
    finish: () => {
      for (const { record } of frame.isReplay ? [] : records) order?.done(eventOfRecord(record), undefined);
      retries.finished(frame);
    },
  });
}

/** Opens events that waited for an earlier event of their visitor. Ends when the order is stopped. */
export async function openReleased(order: VisitorOrder, host: SourceHost, options: RetrySourceOptions): Promise<void> {
  const { quarantine } = options;
  const seqOf = ({ follower }: ReleasedEvent): number => follower.place?.seq ?? 0;
  for await (const events of order.released()) {
    const [first] = events;
    if (first === undefined) continue;
    // If an event is isolated, the events after it wait until it is done.
    const isApart = events.some((event) => quarantine.isSuspected(seqOf(event)));
    const together = isApart ? [first] : events;
    for (const { follower } of events.slice(together.length)) order.giveBack(follower);
    await quarantine.openRetry(seqOf(first), () => {
      const [opened] = together.map((event) => openReleasedEvent(order, event, host, options));
      return opened;
    });
  }
}

/** Opens an event. Returns it as a frame in flight if it is to be sent. */
function openReleasedEvent(
  order: VisitorOrder,
  event: ReleasedEvent,
  host: SourceHost,
  options: RetrySourceOptions,
): FrameInFlight | undefined {
  const { loaded, follower } = event;
  const { place: readFrom, attempted, origin, receivedAtMs } = follower;
  const stage = stageOf({ kind: 'parked', follower }, attempted.attempts);
  const finish = (): void => order.drop(follower);
  if (loaded.kind !== 'event') {
    host.hand({ untried: [untriedOf(loaded, { stage, receivedAtMs })], finish });
  } else if (options.quarantine.holdsRetry(readFrom?.seq ?? 0, readFrom?.index)) {
    const about = { readFrom, stage, attempted, origin };
    host.hand({ untried: [{ kind: 'quarantined event', event: loaded.event, about }], finish });
  } else if (takesRetries(host, options) && order.mayGo(follower)) {
    const item = options.inbox.takeReleased(event, loaded.event);
    host.beginTurn();
    host.hand(item);
    return item.frame;
  } else {
    order.giveBack(follower);
  }
  return undefined;
}
