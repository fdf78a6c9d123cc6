/**
 * What keeps the promises, each rule in one of the files it names. Without it a trace breaks one of them: these are the
 * bugs that were there.
 */
export type Rules = {
  /** An answer of the log without a sequence is no yes (`shared/nats/publish/publish-answer.ts`). */
  readonly yesNeedsSequence: boolean;
  /** What a reader has not finished comes first with the next one (`shared/nats/consume/consumers.ts`). */
  readonly unfinishedFirst: boolean;
  /** The log refuses a reader that has lost the claim to a consumer (the same). */
  readonly oneOwner: boolean;
  /** A log that has lost its end puts its consumers back to the end it has (nats-server). */
  readonly placesPutBack: boolean;
  /** A message is known by its sequence and its time (`shared/nats/consume/taken-messages.ts`). */
  readonly knownByTime: boolean;
  /** EVENTS takes what a resolver writes only behind the message that this resolver knows as the last (`pipeline/workers/resolve`). */
  readonly oneWriter: boolean;
  /** A message that retention removed is not one that the log has lost (`pipeline/workers/resolve`). */
  readonly absentIsNotLost: boolean;
  /** What one account waits for keeps no other account waiting (`pipeline/workers/resolve`). */
  readonly accountsWaitAlone: boolean;
  /** An event that the database refuses whatever is tried becomes a dead letter (`pipeline/workers/resolve`). */
  readonly refusedIsLetter: boolean;
  /** A frame is acknowledged when what became of it is stored (`pipeline/workers/resolve/resolver.ts`). */
  readonly storedBeforeAcknowledged: boolean;
  /** Events of a visitor wait behind a failed one (`pipeline/workers/dispatch`). */
  readonly visitorsWait: boolean;
  /** A waiting event is named by its position in EVENTS, and not by the id that a client gave (`pipeline/workers/dispatch`). */
  readonly namedByPlace: boolean;
  /** EVENTS keeps what a reference points to (`pipeline/jobs/retention`). */
  readonly keptWhileReferenced: boolean;
  /** The version that is live at an attempt decides and sends (`pipeline/workers/dispatch`). */
  readonly decidedAtAttempt: boolean;
  /** A quarantined frame is kept as a dead letter before it leaves its log (`pipeline/workers/dispatch/settlement`). */
  readonly quarantinedIsKept: boolean;
  /** The dead letter of a quarantined frame is known when it is written again (the same). */
  readonly lettersAreKnown: boolean;
  /** Only what was worked on by itself in a second death is quarantined (`pipeline/workers/worker/suspicion.ts`). */
  readonly oneDeathIsNoProof: boolean;
  /** What is suspected is worked on by itself (`pipeline/workers/dispatch/sources/isolation.ts`). */
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

/** How many of each there may still be. */
export type Faults = {
  /** A resolver or dispatcher dies, and another one claims its consumer. */
  readonly deaths: number;
  /** One stands still, is taken for dead, and goes on beside its successor. */
  readonly pauses: number;
  /** A destination fails to take an event, once or for good. */
  readonly failures: number;
  /** A log loses its newest message and uses its sequence again. */
  readonly cuts: number;
  /** The log has no quorum for a while. */
  readonly outages: number;
  /** An answer to a publish does not arrive. */
  readonly silences: number;
  /** An event takes down its dispatcher: from then on each time, be it out of EVENTS or by a reference. */
  readonly poisons: number;
  /** The database refuses an event, whatever is tried. */
  readonly refusals: number;
  /** The database writes nothing of an account, and may never do so again. */
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
  /** Whether each visitor is of an account of its own. */
  readonly hasAccountEach?: true;
  /** Whether visitors give their first, second … events the same ids. */
  readonly sharesIds?: true;
};
