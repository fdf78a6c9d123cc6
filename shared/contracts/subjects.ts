/**
 * All names of subjects, stream consumers and bucket keys are built here, from checked ids only: the client library
 * does not validate subjects, and a line break in a subject would inject protocol commands.
 */

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export class SubjectError extends Error {
  readonly code = 'invalid_subject_id';
}

/** Whether an id may be part of a subject. */
export const isId = (id: string): boolean => ID.test(id);

/** Returns the id unchanged, or throws SubjectError if it may not be part of a subject. */
export function assertId(id: string): string {
  if (!isId(id)) throw new SubjectError('building a subject: an id must match [A-Za-z0-9_-]{1,64}');
  return id;
}

function assertIndex(index: number): number {
  if (!Number.isInteger(index) || index < 0) throw new SubjectError('building a subject: an index must be >= 0');
  return index;
}

/** Accepted events, one subject per partition. */
export const ingestSubject = (partition: number): string => `ingest.${assertIndex(partition)}`;

/**
 * Accepted events of one account in a partition, if the account has so many that other accounts would wait for them.
 */
export const ingestOfAccount = (partition: number, accountId: string): string =>
  `${ingestSubject(partition)}-${assertId(accountId)}`;
/** The account of a subject that `ingestOfAccount` made; undefined for any other subject. */
export function accountOfIngest(partition: number, subject: string): string | undefined {
  const prefix = `${ingestSubject(partition)}-`;
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : undefined;
}
export const allIngest = 'ingest.*';
/** Whether a subject belongs to a partition, and not to the queue of an account. */
export const isIngestOfPartition = (subject: string): boolean => /^ingest\.\d+$/.test(subject);

/** Resolved events of one account; the partition lets a resolver read back what it wrote. */
export const eventsSubject = (accountId: string, partition: number): string =>
  `events.${assertId(accountId)}.${assertIndex(partition)}`;
export const eventsOfAccount = (accountId: string): string => `events.${assertId(accountId)}.*`;
export const eventsOfAll = 'events.*.*';
export const eventsOfPartition = (partition: number): string => `events.*.${assertIndex(partition)}`;

/** Events that wait for another attempt, one subject per destination and delay tier. */
export const retrySubject = (destinationId: string, tier: number): string =>
  `retry.${assertId(destinationId)}.${assertIndex(tier)}`;
export const retriesOfDestination = (destinationId: string): string => `retry.${assertId(destinationId)}.*`;

export const retriesOfAll = 'retry.*.*';

/** Dead letters of a destination: events that it gets only if they are replayed. */
export const deadLetterSubject = (destinationId: string): string => `dead.${assertId(destinationId)}`;
export const allDeadLetters = 'dead.*';
/** The destination of a subject of dead letters, `dead.<destination>`. */
export const destinationOfDeadLetters = (subject: string): string => subject.slice('dead.'.length);

/**
 * Events of an account that the resolver of a partition cannot process. Without an account, the subject is for frames
 * that cannot be divided, and for messages of earlier builds. The account is part of the partition's token, so that the
 * streams and permissions of earlier releases cover the subject.
 */
export const ingestDeadLetterSubject = (partition: number, accountId?: string): string =>
  `dead-ingest.${assertIndex(partition)}${accountId === undefined ? '' : `-${assertId(accountId)}`}`;
export const allIngestDeadLetters = 'dead-ingest.*';
export function readIngestDeadLetterSubject(subject: string): {
  readonly partition: number;
  readonly accountId: string | undefined;
} {
  const [, partition, accountId] = /^dead-ingest\.(\d+)(?:-(.+))?$/.exec(subject) ?? [];
  return { partition: Number(partition), accountId };
}

/** Events that a rule of the tracking plan quarantined. The partition's resolver is the only writer of the subject. */
export const quarantineSubject = (accountId: string, rule: string, partition: number): string =>
  `quarantine.${assertId(accountId)}.${assertId(rule)}.${assertIndex(partition)}`;
/** Quarantined events of an account; with `rule`, only those of this rule. */
export const quarantineOfAccount = (accountId: string, rule?: string): string =>
  `quarantine.${assertId(accountId)}.${rule === undefined ? '*' : assertId(rule)}.*`;
export const allQuarantined = 'quarantine.*.*.*';
export function readQuarantineSubject(subject: string): {
  readonly accountId: string;
  readonly rule: string;
  readonly partition: number;
} {
  const [, accountId = '', rule = '', partition = ''] = subject.split('.');
  return { accountId, rule, partition: Number(partition) };
}

/** Deduplication checkpoints of a partition's resolver. */
export const deduplicationSubject = (partition: number): string => `deduplication.${assertIndex(partition)}`;

/** Which visitors of an account were erased, and when. */
export const erasuresSubject = (accountId: string): string => `erasures.${assertId(accountId)}`;
/** Withdrawn consents of an account. */
export const withdrawalsSubject = (accountId: string): string => `withdrawals.${assertId(accountId)}`;
/** Of the first notice, which belongs to no account. */
export const firstWithdrawalSubject = 'withdrawals.$first';
export const withdrawalsOfAll = 'withdrawals.*';
export const accountOfWithdrawals = (subject: string): string => subject.slice('withdrawals.'.length);
export const erasuresOfAll = 'erasures.*';
export const accountOfErasures = (subject: string): string => subject.slice('erasures.'.length);

/** Messages that the readiness probe writes. */
export const canarySubject = (instanceId: string): string => `canary.${assertId(instanceId)}`;

export const resolverConsumer = (partition: number): string => `resolver-${assertIndex(partition)}`;
/** Reads the subject of `ingestOfAccount`. */
export const accountQueueConsumer = (partition: number, accountId: string): string =>
  `queue-${assertIndex(partition)}-${assertId(accountId)}`;
export const dispatcherConsumer = (destinationId: string): string => `dispatcher-${assertId(destinationId)}`;
/** Consumers that read resolved events in earlier versions, and are no longer used. */
export const retiredEventsConsumers = ['recent-events'] as const;
/** Reads the resolved events of an account that runs experiments, to count their results. */
export const resultsConsumer = (accountId: string): string => `results-${assertId(accountId)}`;

export const accountKey = (accountId: string): string => `account.${assertId(accountId)}`;
