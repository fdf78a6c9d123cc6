import { defaultIdentityLimits } from './identity-limits.ts';
import type { IdentityLimits } from './identity-limits.ts';
import { tiesAsServer } from './server-set.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { MergeCause } from './visitor-rows.ts';
import { nothingLeftOut } from './visitor-store.ts';
import type { KeyTrust, LeftOut, LeftOutReason, VisitorTouch } from './visitor-store.ts';
import { causeOf } from './working-visitor.ts';

/** One event while it is applied: the rights of its key, the limits of its account, and its refused changes. */
export class PlannedEvent {
  readonly claim: VisitorClaim;
  readonly limits: IdentityLimits;
  readonly saidAtMs: number;
  /** Whether the event writes properties with a server's rights. */
  readonly givesAsServer: boolean;
  /** Whether the event ties identifiers and merges visitors with a server's rights. */
  readonly tiesAsServer: boolean;
  readonly #event: VisitorTouch['event'];
  #leftOut: Record<LeftOutReason, number> | undefined;

  constructor({ claim, limits, saidAtMs, receivedAtMs, event }: VisitorTouch, trust: KeyTrust) {
    this.claim = claim;
    this.limits = limits ?? defaultIdentityLimits;
    this.saidAtMs = Math.floor(saidAtMs ?? receivedAtMs);
    this.givesAsServer = trust !== 'public';
    this.tiesAsServer = tiesAsServer(trust, claim);
    this.#event = event;
  }

  /** The cause that is recorded for merges by this event. */
  get cause(): MergeCause {
    return causeOf(this.claim, this.#event);
  }

  leaveOut(reason: LeftOutReason, times = 1): void {
    this.#leftOut ??= { ...nothingLeftOut };
    this.#leftOut[reason] += times;
  }

  /** Undefined if nothing was refused. */
  get leftOut(): LeftOut | undefined {
    return this.#leftOut;
  }
}
