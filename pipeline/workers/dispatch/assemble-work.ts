import type { Region } from '../../../shared/routing/consent/region.ts';
import { Admission } from './admission/admission.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherParts } from './dispatcher-parts.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import { FlowControl } from './lifecycle/flow-control.ts';
import type { Lifecycle } from './lifecycle/lifecycle.ts';
import { SkipAhead } from './lifecycle/skip-ahead.ts';
import { observeBatch } from './sending/observe-batch.ts';
import { PendingWrites } from './settlement/pending-writes.ts';
import { Settlement } from './settlement/settlement.ts';
import type { SettlementOptions } from './settlement/settlement.ts';
import type { RoundBudget } from './sources/round-budget.ts';
import { Quarantine } from './sources/quarantine.ts';
import { Sources } from './sources/sources.ts';

/** The tasks of a dispatcher, which its loop performs one after the other. */
export type DispatcherWork = {
  readonly budget: RoundBudget;
  readonly writes: PendingWrites;
  readonly admission: Admission;
  readonly sources: Sources;
  readonly settlement: Settlement;
  readonly skipAhead: SkipAhead;
  readonly flow: FlowControl;
};

type Loop = { readonly lifecycle: Lifecycle; wake(): void };

/** Assembles the tasks of a dispatcher. Nothing starts before the sources start. */
export function assembleWork(
  options: DispatcherOptions,
  counts: DispatcherCounts,
  parts: DispatcherParts,
  { lifecycle, wake }: Loop,
): DispatcherWork {
  const { accountId, destinationId, settings, suspicion, logger, target } = options;
  const { inbox, visitorOrder: order } = parts;
  const budget = options.roundBudgets.join(accountId, wake);
  const spend = (units: number): void => budget.spend(units);
  const isRunning = (): boolean => lifecycle.isRunning;
  const writes = new PendingWrites(wake, lifecycle.fail);
  const quarantine = new Quarantine({
    suspicion,
    inbox,
    requestMs: settings.sender.totalTimeoutMs,
    mayTakeRetries: () => parts.retries.isOpen,
    isRunning,
    makeRoom: () => {
      if (flow.isRetryLogFull()) settlement.handBackUnstarted();
    },
  });
  const sources = new Sources({
    ...parts,
    order,
    quarantine,
    skipReason: (seq) => skipAhead.reasonFor(seq),
    onFrame: () => skipAhead.caughtUp(),
    host: { target, isRunning, spend, beginTurn: () => options.beginTurn(inbox.atWork), wake },
    fail: lifecycle.fail,
  });
  const observed = observing(options, counts, parts);
  const settlement: Settlement = new Settlement({ ...parts, ...observed, order, sources, writes, budget, counts });
  const skipAhead: SkipAhead = new SkipAhead({ ...options, ...parts, settlement, isRunning, wake });
  const limits = settings;
  const flow: FlowControl = new FlowControl({
    ...parts,
    destinationId,
    settlement,
    sources,
    skipAhead,
    limits,
    logger,
  });
  return { budget, writes, admission: admissionOf(options, counts, spend), sources, settlement, skipAhead, flow };
}

function admissionOf(
  { accountId, erasures, regions, settings }: DispatcherOptions,
  counts: DispatcherCounts,
  spend: (units: number) => void,
): Admission {
  const regionOf = (address: string): Region => regions.regionOf(address);
  return new Admission({ accountId, erasures, regionOf, eventWorkMax: settings.eventWorkMax, spend, counts });
}

/** Measures ended requests, and logs when the destination refuses its key or accepts it again. */
function observing(
  { destinationId, timings, target, logger }: DispatcherOptions,
  counts: DispatcherCounts,
  { sending, health }: DispatcherParts,
): Pick<SettlementOptions, 'observeBatch' | 'onAccess'> {
  const { answerTimes } = sending;
  return {
    observeBatch: (batch, delivered) => {
      const destinationType = target()?.destination.type ?? 'unknown';
      observeBatch({ timings, destinationType, answerTimes, health, counts }, batch, delivered);
    },
    onAccess: (isRefused) => {
      if (isRefused) logger.error({ destinationId }, 'dispatcher: the destination refuses its key or token');
      else logger.info({ destinationId }, 'dispatcher: the destination accepts its key or token again');
    },
  };
}
