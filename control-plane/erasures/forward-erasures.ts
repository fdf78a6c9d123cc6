import type { Pool } from 'pg';
import { SecretError, settingContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import type { ErasureEnd } from '../../shared/destinations/sdk/erasure.ts';
import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import type { Sender } from '../../shared/egress/sender.ts';
import { every } from '../../shared/runtime/every.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { openSettings } from '../destinations/settings.ts';
import {
  claimTargets,
  deleteOldSubjects,
  readErasureFigures,
  selectLiveDestination,
  settleTarget,
} from './erasure-targets.ts';
import type { ClaimedTarget, ErasureFigures, SettledTarget } from './erasure-targets.ts';
import { openSubject } from './erasure-subject.ts';
import { runAttempt } from './run-attempt.ts';

/** Forwards erasures to the destinations. Each control plane works on erasures that no other one has claimed. */
export type ErasureForwarding = {
  /** Attempts since the start, by how they ended. */
  readonly attempts: Readonly<Record<ErasureEnd['kind'], number>>;
  /** Undefined until they have been read. */
  readonly figures: ErasureFigures | undefined;
  stop(): Promise<void>;
};

export type ForwardingOptions = {
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  /** A sender for one attempt. */
  createSender(accountId: string): Sender;
  readonly deadlineMs: number;
  readonly logger: Logger;
  now(): Date;
};

const everyMs = 1_000;
const figuresEveryMs = 30_000;
const attemptsMax = 8;
const attemptsOfAccountMax = 2;
const attemptTimeoutMs = 60_000;
/** Longer than the maximum duration of an attempt, including its last request. */
const leaseMs = 120_000;
const waitMinMs = 10_000;
const waitMaxMs = 3_600_000;
const pollMs = 6 * 3_600_000;
/**
 * An unfinished erasure counts as due soon from this long before its deadline, but for at most a quarter of the
 * deadline.
 */
const soonMs = 7 * 86_400_000;

export function startForwarding(options: ForwardingOptions): ErasureForwarding {
  const { pool, logger, now, deadlineMs } = options;
  const attempts = { done: 0, requested: 0, nothing: 0, manual: 0, retry: 0, failed: 0 };
  const running = new Map<Promise<void>, Sender>();
  let figures: ErasureFigures | undefined;
  let isStopped = false;

  const work = async (target: ClaimedTarget, sender: Sender): Promise<void> => {
    try {
      const end = await attempt(target, sender, options);
      // An attempt that was interrupted by the stop is repeated when the lease ends.
      if (isStopped && end.kind === 'retry') return;
      attempts[end.kind] += 1;
      await settleTarget(pool, target, settledBy(end, target, now().getTime()), now());
    } catch (err) {
      const { erasureId, destinationId } = target;
      logger.error({ err, erasureId, destinationId }, 'forwarding an erasure failed');
    } finally {
      await sender.close();
    }
  };
  const take = async (): Promise<void> => {
    const free = attemptsMax - running.size;
    if (free <= 0) return;
    const at = now();
    const leaseEndsAt = new Date(at.getTime() + leaseMs);
    try {
      const claim = { now: at, leaseEndsAt, max: free, ofAccountMax: attemptsOfAccountMax };
      for (const target of await claimTargets(pool, claim)) {
        const sender = options.createSender(target.accountId);
        const worked: Promise<void> = work(target, sender).finally(() => running.delete(worked));
        running.set(worked, sender);
      }
    } catch (err) {
      logger.warn({ err }, 'claiming erasures to forward failed');
    }
  };
  const look = async (): Promise<void> => {
    const at = now();
    const soon = new Date(at.getTime() + Math.min(soonMs, deadlineMs / 4));
    try {
      await deleteOldSubjects(pool, at);
      figures = await readErasureFigures(pool, at, soon);
    } catch (err) {
      logger.warn({ err }, 'counting the open erasures failed');
    }
  };
  const rounds = [every(everyMs, take, { atOnce: true }), every(figuresEveryMs, look, { atOnce: true })];
  return {
    attempts,
    get figures() {
      return figures;
    },
    async stop() {
      isStopped = true;
      await Promise.all(rounds.map((round) => round.stop()));
      await Promise.all([...running.values()].map((sender) => sender.close()));
      await Promise.all(running.keys());
    },
  };
}

async function attempt(
  target: ClaimedTarget,
  sender: Sender,
  { pool, secretBox, now }: ForwardingOptions,
): Promise<ErasureEnd> {
  const { accountId, erasureId, destinationId, type, state, reference, subject } = target;
  const kind = findDestinationKind(type);
  const label = kind?.descriptor.label ?? type;
  if (kind?.prepareErasure === undefined) {
    return { kind: 'manual', reason: `Sluice cannot delete a person at ${label}. Delete the person there yourself.` };
  }
  const settings = await selectLiveDestination(pool, accountId, destinationId);
  if (settings === undefined) {
    return { kind: 'manual', reason: 'The destination was removed with its key. Delete the person there yourself.' };
  }
  try {
    const open = (key: string, sealed: string): string =>
      secretBox.open(sealed, settingContext(accountId, destinationId, key));
    const erasure = kind.prepareErasure(openSettings(settings, { open, seal: (_key, plain) => plain }));
    const clock = { now: () => now().getTime(), timeoutMs: attemptTimeoutMs };
    if (state === 'requested' && reference !== undefined && erasure.poll !== undefined) {
      return await runAttempt(erasure.poll(reference), sender, clock);
    }
    if (subject === undefined) return { kind: 'failed', reason: 'the identifiers are no longer stored' };
    const order = {
      subject: openSubject(secretBox, accountId, erasureId, subject),
      id: erasureId,
      requestedAtMs: target.requestedMs,
      dueAtMs: target.dueMs,
      isSuppressed: target.isSuppressed,
    };
    const end = await runAttempt(erasure.begin(order), sender, clock);
    // The platform has no interface to poll, so its acceptance is final.
    return end.kind === 'requested' && erasure.poll === undefined ? { ...end, isFinal: true } : end;
  } catch (error) {
    if (error instanceof SettingError || error instanceof SecretError) return { kind: 'retry', reason: error.message };
    throw error;
  }
}

/** The stored result of an attempt, and the time of the next one. Pure. */
export function settledBy(
  end: ErasureEnd,
  target: Pick<ClaimedTarget, 'attempts' | 'dueMs' | 'reference' | 'state'>,
  nowMs: number,
): SettledTarget {
  const settled = { reason: undefined, reference: target.reference, nextAttemptAt: undefined };
  switch (end.kind) {
    case 'done':
      return { ...settled, state: 'done' };
    case 'nothing':
    case 'manual':
    case 'failed':
      return { ...settled, state: end.kind, reason: end.reason };
    case 'requested': {
      const reference = end.reference ?? target.reference;
      if (end.isFinal === true || reference === undefined) return { ...settled, state: 'requested', reference };
      if (nowMs >= target.dueMs) {
        return {
          ...settled,
          state: 'failed',
          reference,
          reason: 'the platform did not confirm the deletion by the deadline',
        };
      }
      return { ...settled, state: 'requested', reference, nextAttemptAt: new Date(nowMs + pollMs) };
    }
    case 'retry': {
      if (nowMs >= target.dueMs) {
        return { ...settled, state: 'failed', reason: `not done by the deadline: ${end.reason}` };
      }
      const backoffMs = Math.min(waitMinMs * 2 ** Math.min(target.attempts - 1, 20), waitMaxMs);
      const waitMs = Math.max(backoffMs, Math.min(end.afterMs ?? 0, 86_400_000));
      const state = target.state === 'requested' ? 'requested' : 'pending';
      return { ...settled, state, reason: end.reason, nextAttemptAt: new Date(nowMs + waitMs) };
    }
  }
}
