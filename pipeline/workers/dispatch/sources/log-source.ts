import type { PullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import type { SkipReason } from '../../../../shared/contracts/missed-ranges.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import type { FrameQuota } from './frame-quota.ts';
import type { Inbox } from './inbox.ts';
import type { Quarantine } from './quarantine.ts';
import type { SourceHost } from './source-host.ts';

export type LogSourceOptions = {
  readonly pullConsumer: PullConsumer;
  readonly inbox: Inbox;
  readonly frameQuota: FrameQuota;
  readonly quarantine: Quarantine;
  /** Why the frame with this sequence is skipped; undefined if it is not skipped. */
  readonly skipReason: (seq: number) => SkipReason | undefined;
  /** Called when a frame was opened that is not skipped. */
  readonly onFrame: () => void;
};

/** Cost of receiving, recording and acknowledging a frame, without its events, in units of work. */
export const frameUnits = 4_000;

/** Opens frames of the account's log as they arrive; `inbox.next` reads their events. Ends with the dispatcher. */
export async function openLogFrames(host: SourceHost, options: LogSourceOptions): Promise<void> {
  const { pullConsumer, quarantine } = options;
  for (;;) {
    await quarantine.untilFramesMayOpen();
    if (!(await pullConsumer.untilAny()) || !host.isRunning()) return;
    await quarantine.openFrames(() => openTogether(host, options));
  }
}

/**
 * Takes up to `framesAtOnce` frames together. If older frames were handed back while newer ones are in flight, they
 * would be delivered after the newer ones.
 */
function openTogether(host: SourceHost, options: LogSourceOptions): void {
  const { pullConsumer, quarantine, skipReason, onFrame } = options;
  if (!host.isRunning()) return;
  const messages = pullConsumer.takeNow(quarantine.framesAtOnce);
  if (messages.length === 0) return;
  quarantine.opened(Math.max(...messages.map(({ seq }) => seq)));
  for (const message of messages) openFrame(message, host, options);
  host.spend(messages.length * frameUnits);
  host.beginTurn();
  if (messages.some(({ seq }) => skipReason(seq) === undefined)) onFrame();
  host.wake();
}

function openFrame(
  message: LogMessage,
  host: SourceHost,
  { inbox, frameQuota, quarantine, skipReason }: LogSourceOptions,
): void {
  frameQuota.note(message.data.length);
  if (quarantine.holdsFrame(message.seq)) {
    host.hand({ untried: [{ kind: 'quarantined frame', message }], finish: () => inbox.pass(message) });
    return;
  }
  const target = host.target();
  const skippedFor = skipReason(message.seq);
  // The position of a disabled destination advances past these events; only a replay can send them later.
  if (target?.destination.isEnabled === false) inbox.pass(message);
  else if (skippedFor !== undefined) inbox.skipFrame(message, skippedFor);
  else if (target?.prepared === undefined) inbox.refuse(message);
  else inbox.take(message);
}
