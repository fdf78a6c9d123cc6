import { defaultIdentityLimits } from './identity-limits.ts';
import type { IdentityLimits } from './identity-limits.ts';
import { tiesAsServer } from './server-set.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { MergeCause } from './visitor-rows.ts';
import { nothingLeftOut } from './visitor-store.ts';
import type { KeyTrust, LeftOut, LeftOutReason, VisitorTouch } from './visitor-store.ts';
import { causeOf } from './working-visitor.ts';

/** One event while it is applied: what its key and its account allow, and the changes it asked for and did not get. */
export class PlannedEvent {
  readonly claim: VisitorClaim;
  readonly limits: IdentityLimits;
  readonly saidAtMs: number;
  /** Whether it gives properties as an event of a server. */
  readonly givesAsServer: boolean;
  /** Whether it ties identifiers and merges visitors as an event of a server. */
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

  /** Why it merges visitors. */
  get cause(): MergeCause {
    return causeOf(this.claim, this.#event);
  }

  leaveOut(reason: LeftOutReason, times = 1): void {
    this.#leftOut ??= { ...nothingLeftOut };
    this.#leftOut[reason] += times;
  }

  /** Undefined where it got all it asked for. */
  get leftOut(): LeftOut | undefined {
    return this.#leftOut;
  }
}
