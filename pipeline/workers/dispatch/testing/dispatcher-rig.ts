import { noSuspicion } from '../../worker/suspicion.ts';
import type { FramesAtWork, Suspicion } from '../../worker/suspicion.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { decodeDeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { decodeRetryFrame, settledNoteTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import { decodeJson, isJsonObject } from '../../../../shared/runtime/json.ts';
import { compressFrame } from '../../../../shared/contracts/events/compressed-frame.ts';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { client } from '../../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import { isNotFound } from '../../../../shared/nats/connection/server-error.ts';
import { noGeoRegions } from '../geo-regions.ts';
import { announceWithdrawals } from '../../../../shared/nats/erasures/announce-withdrawals.ts';
import type { JsonObject } from '../../../../shared/runtime/json.ts';
import type { ConsentWords } from '../../../../shared/contracts/events/consent-words.ts';
import { announceErasure } from '../../../../shared/testing/announce-erasure.ts';
import { followErasures } from '../../../../shared/nats/erasures/follow-erasures.ts';
import type { FollowedErasures } from '../../../../shared/nats/erasures/follow-erasures.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../../../shared/nats/buckets/open-buckets.ts';
import { publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import { countBySubject, readNext } from '../../../../shared/nats/messages/subject-log.ts';
import {
  deadLetterSubject,
  dispatcherConsumer,
  eventsSubject,
  retriesOfDestination,
  retrySubject,
} from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { createSecretBox } from '../../../../shared/contracts/config/secrets.ts';
import { createAccountPlans } from '../../../threads/account-plans.ts';
import { accountConfig } from '../../../testing/account-config.ts';
import type { TestCollections } from '../../../../shared/testing/test-account-config.ts';
import { CostBudget } from '../../../../shared/limits/index.ts';
import { RoundBudgets } from '../sources/round-budget.ts';
import { dispatcherEnv, readDispatcherSettings } from '../dispatcher-settings.ts';
import type { DispatcherSettings } from '../dispatcher-settings.ts';
import type { OutcomeNote } from '../settlement/outcome-observer.ts';
import { FrameQuotas } from '../sources/frame-quota.ts';
import { OpenedFrames } from '../events/opened-frames.ts';
import { startDispatcher } from '../dispatcher.ts';
import type { DispatcherActor } from '../dispatcher.ts';
import { decodePosition, positionKey } from '../../../../shared/contracts/destination-position.ts';
import type { DestinationPosition } from '../../../../shared/contracts/destination-position.ts';
import { decodeHealthRecord, pastHealthKey, recentHealthKey } from '../../../../shared/contracts/health-record.ts';
import type { HealthRecord } from '../../../../shared/contracts/health-record.ts';
import { joinStepCounts } from '../../../../shared/contracts/step-counts.ts';
import { defaultsOf } from '../../../../shared/runtime/env.ts';
import { createEgressRules } from '../../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../../shared/egress/guarded-lookup.ts';
import { createProtocolSenders } from '../../../../shared/egress/protocols/protocol-sender.ts';
import { protocols } from '../../../../shared/egress/protocols/registry.ts';
import { createSender } from '../../../../shared/egress/sender.ts';
import { createDeliveryTimings } from '../sending/delivery-timings.ts';
import { ReferencedEvents } from '../events/referenced-events.ts';
import { createRetryPolicy } from '../settlement/retry-policy.ts';
import type { RetryUse } from '../settlement/retry-quota.ts';
import { unlimitedRetries } from './unlimited-retries.ts';
import { createSourceActivity } from '../health/source-activity.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../../../shared/testing/make-test-log.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { until } from '../../../../shared/testing/until.ts';

const mebibyte = 1024 ** 2;
/** A budget that no other account shares. */
const alonePace = (): CostBudget => new CostBudget({ unitsPerMs: 1, unitsAtOnce: 1 });

/** The default settings of a dispatcher. */
export const defaultSettings = readDispatcherSettings(defaultsOf(dispatcherEnv));

export type TestEvent = {
  readonly id: string;
  readonly visitor?: string;
  readonly name?: string;
  readonly source?: string;
  readonly test?: boolean;
  /** Consent that the event itself contains. */
  readonly consent?: ConsentWords;
  readonly context?: JsonObject;
  /** Ms since the epoch. */
  readonly receivedAtMs?: number;
};

type OwnSettings = Partial<DispatcherSettings> & {
  readonly suspicion?: Suspicion;
  /** Use and capacity of the retry log; default: `unlimitedRetries`. */
  readonly retryUse?: RetryUse;
  readonly retryPolicyOf?: typeof createRetryPolicy;
  /** When the live version was published, in ms since the epoch. */
  readonly publishedAtMs?: number;
  /** A destination other than the rig's. */
  readonly destinationId?: string;
  /** Default: the erasures followed on the dispatcher's connection. */
  readonly erasures?: FollowedErasures;
};

type OwnNotice = { readonly id?: string; readonly isAhead?: boolean };

type RigIds = { readonly accountId: string; readonly destinationId: string };

/**
 * A log for tests of dispatchers: stores resolved events, starts dispatchers, and reads what they leave in the log.
 * Large: one rig, whose functions share what it opens.
 */
export async function createDispatcherRig(
  natsUrl: string,
  { accountId, destinationId }: RigIds = { accountId: randomUUID(), destinationId: randomUUID() },
) {
  await makeTestLog({ url: natsUrl }, testTopology({ streamBytesMax: 256 * 1024 ** 2 }));
  const connection = await connectLog({ url: natsUrl, name: 'dispatcher-test' });
  const pipelineConnection = await connectLog({ url: asLogUser(natsUrl, 'pipeline'), name: 'dispatcher' });
  const { health, positions, replays } = await openBuckets(pipelineConnection, 1);
  const firstPublishedAtMs = Date.now();
  let isBroken = false;
  let versionNumber = 0;
  const plans = createAccountPlans(createSecretBox(randomBytes(32).toString('base64')), {});
  const rules = createEgressRules(['127.0.0.0/8']);
  const lookupFor = createGuardedLookup(rules);
  const sourceActivity = createSourceActivity(health, 'test', () => undefined);
  const frameQuotas = new FrameQuotas(128 * mebibyte);
  const referencedEvents = new ReferencedEvents(16 * 1024 ** 2);
  const openedFrames = new OpenedFrames({ bytesMax: 16 * mebibyte });
  const notes: OutcomeNote[] = [];
  const followed: FollowedErasures[] = [];
  const follow = (of: LogConnection): FollowedErasures => {
    const erasures = followErasures({ connection: of, onError: () => undefined });
    followed.push(erasures);
    return erasures;
  };
  const erasures = follow(pipelineConnection);
  const turns: (FramesAtWork | undefined)[] = [];
  const running = new Set<DispatcherActor>();
  const started = new Set<string>();

  let storedSeq = 0;
  const storedSeqs: number[] = [];
  const store = async (payload: Uint8Array): Promise<void> => {
    const subject = eventsSubject(accountId, 0);
    const message = { subject, payload, msgId: randomUUID() };
    const { seq } = await publishWithRetry(connection, message, { attemptsMax: 6 });
    storedSeq = Math.max(storedSeq, seq);
    storedSeqs.push(seq);
  };
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([...running].map((dispatcher) => dispatcher.stop(0)));
    await Promise.all([sourceActivity.stop(), ...followed.map((one) => one.stop())]);
    await Promise.all([connection.close(), pipelineConnection.close()]);
  };
  return {
    accountId,
    destinationId,
    /** The operator's connection, with which the test reads and changes the log. */
    connection,
    /** The connection of the rig's dispatchers and of a pipeline's jobs. */
    pipelineConnection,
    replays,
    healthBucket: health,
    positionBucket: positions,
    erasures,
    /**
     * Announces an erasure, as the control plane does: dispatchers then send no event of these visitors that was
     * received up to `atMs`.
     */
    erase: (visitorIds: readonly string[], atMs = Date.now(), { id = randomUUID(), isAhead = false }: OwnNotice = {}) =>
      announceErasure(connection, { id, accountId, visitorIds, atMs, isAhead }),
    /** Records a visitor's consent, as a resolver does. */
    sayConsent: (visitorId: string, words: Readonly<Record<string, boolean>>, atMs = Date.now()) =>
      announceWithdrawals(connection, [{ accountId, visitorIds: [visitorId], words, atMs }]),
    /** Outcomes that the dispatchers reported. */
    notes: notes as readonly OutcomeNote[],
    /** The frames in flight at the beginning of each turn of the dispatchers. */
    turns: turns as readonly (FramesAtWork | undefined)[],
    /** Publishes a configuration to the running dispatchers. Returns the number of its version. */
    configure(collections: TestCollections, publishedAtMs = firstPublishedAtMs): number {
      versionNumber += 1;
      const config = { ...accountConfig(accountId, collections, publishedAtMs), versionNumber };
      isBroken = false;
      plans.configure(accountId, Buffer.from(JSON.stringify(config)));
      for (const dispatcher of running) dispatcher.reconfigured();
      return versionNumber;
    },
    /** Makes every use of the rules throw until the next configuration. */
    breakRules(): void {
      isBroken = true;
      for (const dispatcher of running) dispatcher.reconfigured();
    },
    /** Starts a dispatcher. With `ownConnection` it can be cut off from the log. */
    async start(
      {
        retryPolicyOf = createRetryPolicy,
        suspicion = noSuspicion,
        publishedAtMs = firstPublishedAtMs,
        destinationId: startedId = destinationId,
        retryUse = unlimitedRetries,
        erasures: ownErasures,
        ...ownSettings
      }: OwnSettings = {},
      instanceId = 'test',
      ownConnection = pipelineConnection,
    ): Promise<DispatcherActor> {
      const settings = { ...defaultSettings, ...ownSettings };
      const dispatcher = await startDispatcher({
        accountId,
        destinationId: startedId,
        publishedAtMs,
        instanceId,
        connection: ownConnection,
        ...(ownConnection === pipelineConnection ? { health, positions } : await openBuckets(ownConnection, 1)),
        settings,
        target: () => {
          if (isBroken) throw new TypeError('the rules cannot be compiled');
          return plans.target(accountId, startedId);
        },
        createSender: () => {
          const limits = settings.sender;
          return createProtocolSenders({ protocols, rules, limits })(createSender({ rules, lookupFor, limits }));
        },
        retryPolicy: retryPolicyOf(settings.retryWindowMs, settings.accessRetry.minMs),
        sourceActivity,
        timings: createDeliveryTimings(),
        retryUse: () => retryUse,
        erasures: ownErasures ?? (ownConnection === pipelineConnection ? erasures : follow(ownConnection)),
        regions: noGeoRegions,
        roundBudgets: new RoundBudgets(ownSettings.eventWorkMax ?? defaultSettings.eventWorkMax, alonePace()),
        frameQuotas,
        openedFrames,
        referencedEvents,
        noteOutcome: (note) => notes.push(note),
        logger: pino({ level: 'silent' }),
        beginTurn: (frames) => turns.push(frames),
        suspicion,
      });
      running.add(dispatcher);
      started.add(startedId);
      dispatcher.done.then(
        () => running.delete(dispatcher),
        () => running.delete(dispatcher),
      );
      return dispatcher;
    },
    running: () => [...running],
    /** Stores events in one frame of the account's log. */
    send: (events: readonly TestEvent[]) => store(frameOf(accountId, events)),
    sendRaw: (data: string | Uint8Array) => store(typeof data === 'string' ? Buffer.from(data) : data),
    /** The frame that `send` would store for these events, compressed. */
    compressed: (events: readonly TestEvent[]) => compressFrame(frameOf(accountId, events)),
    /** The bytes that dispatchers stored as unreadable dead letters, oldest first. */
    async unreadable(): Promise<Buffer[]> {
      const kept: Buffer[] = [];
      for (let seq = 1; ;) {
        const found = await readNext(connection, streams.deadLetters, deadLetterSubject(destinationId), seq);
        if (found === undefined) return kept;
        const letter = decodeJson(found.data);
        if (isJsonObject(letter) && typeof letter['raw'] === 'string') kept.push(Buffer.from(letter['raw'], 'base64'));
        seq = found.seq + 1;
      }
    },
    /** A frame with one event whose head can be read, but whose line cannot be parsed. */
    brokenBehindHead: (id: string) =>
      Buffer.from(frameOf(accountId, [{ id }]))
        .toString()
        .replace('"event_properties":{', '"event_properties":{oops'),
    async health(instanceId = 'test'): Promise<HealthRecord | undefined> {
      const entry = await health.get(`destination.${destinationId}.${instanceId}`);
      return entry?.value === undefined ? undefined : (JSON.parse(Buffer.from(entry.value).toString()) as HealthRecord);
    },
    /** The stored counts of moves between stages, by event name and move, summed over these instances. */
    async moves(...instanceIds: readonly string[]): Promise<Record<string, number>> {
      const sums: Record<string, number> = {};
      for (const key of instanceIds.map((id) => recentHealthKey(destinationId, id))) {
        const entries = await Promise.all([health.get(pastHealthKey(key)), health.get(key)]);
        const parts = entries.map((entry) => decodeHealthRecord(entry?.value)?.delivery?.names);
        for (const { row, column, count } of joinStepCounts(parts)?.cells ?? []) {
          const name = `${row}: ${column}`;
          sums[name] = (sums[name] ?? 0) + count;
        }
      }
      return sums;
    },
    /** The stored position of the destination. */
    async position(): Promise<DestinationPosition | undefined> {
      const entry = await positions.get(positionKey(destinationId));
      return entry?.value === undefined ? undefined : decodePosition(entry.value);
    },
    /** The sums of succeeded, failed, stopped and globalStop in the stored window. */
    async counted(instanceId = 'test'): Promise<readonly number[]> {
      const record = await this.health(instanceId);
      const sums = [0, 0, 0, 0];
      for (const [, ...counts] of record?.minutes ?? [])
        counts.forEach((count, i) => (sums[i] = (sums[i] ?? 0) + count));
      return sums;
    },
    async deadLetters(): Promise<DeadLetter[]> {
      const letters: DeadLetter[] = [];
      for (let seq = 1; ;) {
        const found = await readNext(connection, streams.deadLetters, deadLetterSubject(destinationId), seq);
        if (found === undefined) return letters;
        const letter = decodeDeadLetter(found.data);
        if (letter !== undefined) letters.push(letter);
        seq = found.seq + 1;
      }
    },
    /** Sequences of the frames that the test has stored. */
    frameSeqs: storedSeqs as readonly number[],
    /**
     * Number of messages in each tier of the retry log, by subject. A message may contain many records; a note of
     * settled events contains none.
     */
    retries: () => countBySubject(connection, streams.retry, retriesOfDestination(destinationId)),
    /**
     * The records in the retry log, oldest first. Records of parked events stay until the last event of their frame is
     * settled.
     */
    async retryRecords(): Promise<RetryRecord[]> {
      const records: RetryRecord[] = [];
      const noteSubject = retrySubject(destinationId, settledNoteTier);
      for (let seq = 1; ;) {
        const found = await readNext(connection, streams.retry, retriesOfDestination(destinationId), seq);
        if (found === undefined) return records;
        if (found.subject !== noteSubject) records.push(...decodeRetryFrame(found.data));
        seq = found.seq + 1;
      }
    },
    /** Number of frames of the account's log that the dispatcher has received but not acknowledged. */
    async handedOut(): Promise<number> {
      const { num_ack_pending: handedOut } = await connection[client].jsm.consumers.info(
        streams.events,
        dispatcherConsumer(destinationId),
      );
      return handedOut;
    },
    /** The sequence up to which all frames of the account's log are acknowledged. */
    async acknowledged(): Promise<number> {
      const { consumers } = connection[client].jsm;
      const { ack_floor: floor } = await consumers.info(streams.events, dispatcherConsumer(destinationId));
      return floor.stream_seq;
    },
    /** Approximate number of unacknowledged frames of the account's log; 0 only if there are none. */
    async unfinished(ofDestination = destinationId): Promise<number> {
      // Asks only for this destination's consumer: the log also has consumers of earlier tests.
      const { consumers } = connection[client].jsm;
      const own = await consumers.info(streams.events, dispatcherConsumer(ofDestination)).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
      // After a restart the log may lack the consumer until its dispatcher creates it again.
      if (own === undefined) return started.has(ofDestination) && running.size > 0 ? 1 : 0;
      // A message that was just stored might not be counted as pending yet.
      return Math.max(own.num_pending + own.num_ack_pending, own.ack_floor.stream_seq < storedSeq ? 1 : 0);
    },
    /** Resolves once every frame of the account's log is acknowledged. */
    idle(): Promise<void> {
      return until('everything is acknowledged', async () => (await this.unfinished()) === 0);
    },
    retryLogIsEmpty(): Promise<void> {
      return until('the retry log is empty', async () => (await this.retries()).size === 0);
    },
    /** Closes the rig; does nothing if a test has already closed it. */
    close(): Promise<void> {
      closed ??= close();
      return closed;
    },
  };
}

export type DispatcherRig = Awaited<ReturnType<typeof createDispatcherRig>>;

function frameOf(accountId: string, events: readonly TestEvent[]): Uint8Array {
  const writer = new FrameWriter();
  for (const event of events) {
    const { id, visitor = id, name = 'Order', source = 'source-1', test = false, receivedAtMs } = event;
    const { consent, context } = event;
    const received = receivedAtMs === undefined ? {} : { received_at: receivedAtMs };
    const own = { id, event: name, time: Date.now(), source_id: source, account_id: accountId, test, ...received };
    const sample = sampleEvent({ ...own, ...(consent && { consent }), ...(context && { context }) });
    writer.appendLine(encodeResolved({ ...sample, visitor: { ...sample.visitor, id: visitor } }));
  }
  return writer.bytes();
}
