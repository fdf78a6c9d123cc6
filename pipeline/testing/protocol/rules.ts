/**
 * The rules that keep the promises, each with the code that implements it. Each rule corresponds to a bug of an earlier
 * version: without the rule, some trace breaks a promise.
 */
export type Rules = {
  /** A log's answer without a sequence is no acknowledgement (`shared/nats/publish/publish-answer.ts`). */
  readonly yesNeedsSequence: boolean;
  /** The next reader begins with the unfinished messages of the previous one (`shared/nats/consume/consumers.ts`). */
  readonly unfinishedFirst: boolean;
  /** The log refuses a reader that has lost the claim to a consumer (`shared/nats/consume/consumers.ts`). */
  readonly oneOwner: boolean;
  /** When a log has lost its end, its consumers are reset to the new end (nats-server). */
  readonly placesPutBack: boolean;
  /** A message is identified by its sequence and its time (`shared/nats/consume/taken-messages.ts`). */
  readonly knownByTime: boolean;
  /**
   * EVENTS accepts a resolver's message only if the last message of EVENTS is the one that this resolver expects
   * (`pipeline/workers/resolve`).
   */
  readonly oneWriter: boolean;
  /** A message that retention removed does not count as lost by the log (`pipeline/workers/resolve`). */
  readonly absentIsNotLost: boolean;
  /** An account that waits does not block other accounts (`pipeline/workers/resolve`). */
  readonly accountsWaitAlone: boolean;
  /** An event that the database always refuses becomes a dead letter (`pipeline/workers/resolve`). */
  readonly refusedIsLetter: boolean;
  /** A frame is acknowledged once its outcome is stored (`pipeline/workers/resolve/resolver.ts`). */
  readonly storedBeforeAcknowledged: boolean;
  /** Events of a visitor wait for an earlier event of the visitor that failed (`pipeline/workers/dispatch`). */
  readonly visitorsWait: boolean;
  /** A waiting event is identified by its position in EVENTS, not by the client's id (`pipeline/workers/dispatch`). */
  readonly namedByPlace: boolean;
  /** EVENTS keeps events that a reference points to (`pipeline/jobs/retention`). */
  readonly keptWhileReferenced: boolean;
  /** The version that sends an event at an attempt also decides whether to send it (`pipeline/workers/dispatch`). */
  readonly decidedAtAttempt: boolean;
  /**
   * A quarantined frame is stored as a dead letter before it is removed from its log
   * (`pipeline/workers/dispatch/settlement`).
   */
  readonly quarantinedIsKept: boolean;
  /** A dead letter of a quarantined frame is stored only once (`pipeline/workers/dispatch/settlement`). */
  readonly lettersAreKnown: boolean;
  /**
   * Only a message that was alone in flight at a second crash is quarantined (`pipeline/workers/worker/suspicion.ts`).
   */
  readonly oneDeathIsNoProof: boolean;
  /**
   * Suspects are processed one at a time, with no other message in flight
   * (`pipeline/workers/dispatch/sources/isolation.ts`).
   */
  readonly suspectsGoAlone: boolean;
};

export const ourRules: Rules = {
  yesNeedsSequence: true,
  unfinishedFirst: true,
  oneOwner: true,
  placesPutBack: true,
  knownByTime: true,
  oneWriter: true,
  absentIsNotLost: true,
  accountsWaitAlone: true,
  refusedIsLetter: true,
  storedBeforeAcknowledged: true,
  visitorsWait: true,
  namedByPlace: true,
  keptWhileReferenced: true,
  decidedAtAttempt: true,
  quarantinedIsKept: true,
  lettersAreKnown: true,
  oneDeathIsNoProof: true,
  suspectsGoAlone: true,
};

/** How many faults of each kind may still happen. */
export type Faults = {
  /** A resolver or dispatcher dies, and another one claims its consumer. */
  readonly deaths: number;
  /** A resolver or dispatcher stands still, is considered dead, and resumes while its successor runs. */
  readonly pauses: number;
  /** A destination refuses an event, once or always. */
  readonly failures: number;
  /** A log loses its newest message and gives the message's sequence to another message. */
  readonly cuts: number;
  /** The log has no quorum for a while. */
  readonly outages: number;
  /** An answer to a publish does not arrive. */
  readonly silences: number;
  /**
   * An event crashes its dispatcher, and crashes a dispatcher again each time it is sent, from EVENTS or by a
   * reference.
   */
  readonly poisons: number;
  /** The database always refuses an event. */
  readonly refusals: number;
  /** The database stops writing for an account, perhaps forever. */
  readonly stalls: number;
  /** Another version is made live. */
  readonly publishes: number;
  /** Retention removes an event that was dispatched. */
  readonly removals: number;
};

export const noFaults: Faults = {
  deaths: 0,
  pauses: 0,
  failures: 0,
  cuts: 0,
  outages: 0,
  silences: 0,
  poisons: 0,
  refusals: 0,
  stalls: 0,
  publishes: 0,
  removals: 0,
};

export type Size = {
  readonly visitors: number;
  readonly eventsEach: number;
  /** Whether each visitor has an account of its own. */
  readonly hasAccountEach?: true;
  /** Whether different visitors use the same event ids. */
  readonly sharesIds?: true;
};
