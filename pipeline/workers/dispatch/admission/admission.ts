import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import type { Erasures } from '../../../../shared/nats/erasures/follow-erasures.ts';
import type { ConsentNow } from '../../../../shared/routing/consent/compile-consent.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { decideAttempt, isDecided } from './decide-attempt.ts';
import type { AttemptDecision } from './decide-attempt.ts';
import type { DispatchTarget } from './dispatch-target.ts';

export type AdmissionOptions = {
  readonly accountId: string;
  readonly erasures: Erasures;
  readonly regionOf: ConsentNow['regionOf'];
  /** Units of work that the rules may spend on one event. */
  readonly eventWorkMax: number;
  spend(units: number): void;
  readonly counts: Record<'consent_unreadable', number>;
};

/** Decides the attempts of a destination's events by the live version, the erasures and the withdrawals known now. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #consent: ConsentNow;

  constructor(options: AdmissionOptions) {
    const { accountId, erasures, regionOf, counts } = options;
    this.#options = options;
    this.#consent = {
      lastWords: (head) => erasures.lastWords(accountId, head),
      onUnreadable: () => {
        counts.consent_unreadable += 1;
      },
      regionOf,
    };
  }

  /** Whether the erasures and withdrawals up to the last second are known: if not, nothing may be sent. */
  get isCurrent(): boolean {
    return this.#options.erasures.isCurrent;
  }

  readonly isErased = (head: EventHead): boolean => this.#options.erasures.isErased(this.#options.accountId, head);

  /** Decides an attempt. Throws if the rules read a line that cannot be parsed. */
  decide(item: DispatchItem, target: DispatchTarget): AttemptDecision {
    const { eventWorkMax, spend } = this.#options;
    return decideAttempt(item, target, { eventWorkMax, spend, isErased: this.isErased, consent: this.#consent });
  }

  /** Whether the decision to send an event still holds. */
  isDecided(item: DispatchItem, target: DispatchTarget | undefined): boolean {
    return isDecided(item, target, { isErased: this.isErased, consent: this.#consent });
  }
}
