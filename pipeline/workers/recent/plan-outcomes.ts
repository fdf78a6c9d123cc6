import { LRUCache } from 'lru-cache';
import { Wakeup } from '../worker/wakeup.ts';

/** The tracking plan's verdict on an event, as the view shows it. */
export type PlanOutcome = {
  /** A test event is neither quarantined nor dropped: it shows the outcome that a live event would have. */
  readonly outcome: 'reported' | 'changed' | 'quarantined' | 'dropped';
  /** Rules that the event broke, the deciding ones first. `property` is a path, if the rule is about a property. */
  readonly rules: readonly { readonly rule: string; readonly action: string; readonly property?: string }[];
};

/** An event that its tracking plan quarantined or dropped, without its content. */
export type LeftByPlan = {
  readonly accountId: string;
  readonly id: string;
  readonly sourceId: string;
  readonly name: string;
  readonly timeMs: number;
  readonly receivedAtMs: number;
  readonly versionNumber: number | undefined;
  readonly plan: PlanOutcome;
};

type EventKey = Pick<LeftByPlan, 'accountId' | 'sourceId' | 'id'>;

/**
 * Maximum numbers of outcomes, and of quarantined or dropped events, that wait to be recorded; in a flood the view
 * shows only a sample anyway.
 */
const waitingMax = 10_000;
const leftMax = 1_000;

/** Verdicts of tracking plans: the resolver adds them, and the recorder writes them a moment later. */
export class PlanOutcomes {
  /** Rings when something was added. */
  readonly noted = new Wakeup();
  readonly #waiting = new LRUCache<string, PlanOutcome>({ max: waitingMax });
  #left: LeftByPlan[] = [];

  /** Records the outcome of an event that continues to the log. */
  note(key: EventKey, outcome: PlanOutcome): void {
    this.#waiting.set(textOf(key), outcome);
  }

  take(key: EventKey): PlanOutcome | undefined {
    if (this.#waiting.size === 0) return undefined;
    const text = textOf(key);
    const outcome = this.#waiting.get(text);
    if (outcome !== undefined) this.#waiting.delete(text);
    return outcome;
  }

  /** Records an event that its plan quarantined or dropped. Returns false if too many wait. */
  leave(event: LeftByPlan): boolean {
    if (this.#left.length >= leftMax) return false;
    this.#left.push(event);
    this.noted.ring();
    return true;
  }

  get hasLeft(): boolean {
    return this.#left.length > 0;
  }

  takeLeft(): readonly LeftByPlan[] {
    const left = this.#left;
    this.#left = [];
    return left;
  }
}

const textOf = ({ accountId, sourceId, id }: EventKey): string => `${accountId}\n${sourceId}\n${id}`;
