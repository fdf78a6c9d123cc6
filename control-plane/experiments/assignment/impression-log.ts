import { setImmediate as nextTurn } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { PublishError, publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { ingestSubject } from '../../../shared/contracts/subjects.ts';
import { envelopeHead, envelopeLine, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { partitionOf } from '../../../shared/contracts/events/partition.ts';
import type { ImpressionProperties } from '../../../shared/experiments/impression-event.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import type { ExperimentToken } from '../../../shared/experiments/experiment-tokens.ts';
import type { AssignmentOrigin } from '../../../shared/experiments/assign.ts';
import type { ExperimentVariant } from '../../../shared/experiments/experiment-bodies.ts';
import type { PlannedExperiment } from '../../../shared/experiments/experiment-plan.ts';

/** Writes impressions to the log of accepted events; they are then processed like every event. */
export type ImpressionLog = {
  /** Returns once the log has stored the impression. Throws PublishError if it did not, or if too many are waiting. */
  write(impression: Impression): Promise<void>;
};

export type ImpressionLogOptions = {
  readonly connection: LogConnection;
  /** Called for each impression, because a lost log may be recreated with another number of partitions. */
  partitions(): number;
};

const waitingMax = 20_000;
const frameBytesMax = 256 * 1024;
const publishTimeoutMs = 2_000;

type Waiting = {
  readonly line: string;
  settle(failure: unknown): void;
};

type Lane = { readonly frame: FrameWriter; readonly waiting: Waiting[]; publishing: boolean };

/**
 * As in the gateway, each partition has one frame in flight; events that arrive while it is in flight form the next
 * frame.
 */
export function createImpressionLog({ connection, partitions }: ImpressionLogOptions): ImpressionLog {
  const writerId = uuidv7();
  const lanes = new Map<number, Lane>();
  let waitingCount = 0;
  let frames = 0;

  const publishFrame = async (partition: number, lane: Lane): Promise<void> => {
    const { frame, waiting } = lane;
    frame.reset();
    for (const { line } of waiting) {
      if (frame.length >= frameBytesMax) break;
      frame.appendLine(line);
    }
    const taken = waiting.splice(0, frame.events);
    frames += 1;
    const msgId = `${writerId}-${partition}-${frames}`;
    const message = { subject: ingestSubject(partition), payload: frame.bytes(), msgId };
    const bounds = { timeoutMs: publishTimeoutMs, attemptsMax: 2 };
    const failure: unknown = await publishWithRetry(connection, message, bounds).then(
      () => undefined,
      (error: unknown) => error,
    );
    waitingCount -= taken.length;
    for (const { settle } of taken) settle(failure);
  };

  // Never rejects: `settle` notifies the callers.
  const drain = async (partition: number, lane: Lane): Promise<void> => {
    lane.publishing = true;
    // Requests that arrived together share a frame.
    await nextTurn();
    while (lane.waiting.length > 0) await publishFrame(partition, lane);
    lane.publishing = false;
  };

  return {
    async write(impression) {
      const { partition, line } = encodeImpression(impression, partitions());
      if (waitingCount >= waitingMax) throw new PublishError('full', ingestSubject(partition));
      const lane = lanes.get(partition) ?? { frame: new FrameWriter(), waiting: [], publishing: false };
      lanes.set(partition, lane);
      waitingCount += 1;
      await new Promise<void>((resolve, reject) => {
        const settle = (failure: unknown): void => (failure === undefined ? resolve() : reject(failure));
        lane.waiting.push({ line, settle });
        if (!lane.publishing) void drain(partition, lane);
      });
    },
  };
}

/** The event of an assignment to a variant. */
export type Impression = {
  readonly id: string;
  readonly accountId: string;
  /** The caller's token; if it is a source's key, the event belongs to that source. */
  readonly token: ExperimentToken;
  readonly visitorId: string;
  /** Whether `visitorId` is a person's externalId: as a userId it would create another visitor. */
  readonly isExternalId: boolean;
  readonly atMs: number;
  readonly experiment: PlannedExperiment;
  readonly variant: ExperimentVariant;
  readonly origin: AssignmentOrigin;
  /** The visitor's page, if the caller sends it. */
  readonly url: string | undefined;
  /** Whether the visitor's browser sends Global Privacy Control. */
  readonly hasGpc: boolean;
};

/** Source id of impressions requested with the token of the experiment settings. */
const experimentsSource = 'experiments';

/** The impression as a line of a frame, and the partition to which it belongs. */
function encodeImpression(
  { id, accountId, token, visitorId, isExternalId, atMs, experiment, variant, origin, url, hasGpc }: Impression,
  partitions: number,
): { readonly partition: number; readonly line: string } {
  const own = token.kind === 'source' ? token : { sourceId: experimentsSource, test: false };
  const prefix = envelopePrefix({ account: accountId, source: own.sourceId, test: own.test });
  const properties: ImpressionProperties = {
    experiment_id: experiment.id,
    experiment_key: experiment.key,
    experiment_name: experiment.name,
    experiment_type: experiment.type,
    variant_id: variant.id,
    variant_name: variant.name,
    is_control: variant.isControl,
    is_rollout: origin === 'rollout',
  };
  const identity = { ...(isExternalId ? { externalId: visitorId } : { userId: visitorId }), distinctId: id };
  // The envelope's own mark counts only for sources whose connections are the visitor's.
  const defaultProperties = { ...(url !== undefined && { current_url: url }), ...(hasGpc && { gpc: true }) };
  const body = {
    event: impressionEvent,
    ...identity,
    eventProperties: properties,
    ...(Object.keys(defaultProperties).length > 0 && { defaultProperties }),
  };
  return {
    partition: partitionOf(accountId, identity, partitions),
    line: envelopeLine(envelopeHead(prefix, { kind: 'track', id, at: atMs }), JSON.stringify(body)),
  };
}
