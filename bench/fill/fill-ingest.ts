import { envelopeHead, envelopePrefix } from '../../shared/contracts/events/envelope.ts';
import { ingestSubject } from '../../shared/contracts/subjects.ts';
import { sourceIdOf } from '../config/ids.ts';
import { fillFrames } from './fill-frames.ts';

export type FillIngestOptions = {
  readonly natsUrl: string;
  readonly accountId: string;
  readonly events: number;
  readonly partitions: number;
  readonly visitors: number;
  /** Number of the first event; it keeps the ids of several fills apart. */
  readonly from?: number;
};

/** Writes accepted events to the ingest log, as gateways would, as a backlog for the resolvers. */
export function fillIngest(options: FillIngestOptions): Promise<void> {
  const { natsUrl, accountId, events, partitions, visitors, from = 0 } = options;
  const prefix = envelopePrefix({ account: accountId, source: sourceIdOf(accountId), test: false });
  const atMs = Date.now();
  return fillFrames({
    natsUrl,
    events,
    accountId,
    partitions,
    subjectOf: ingestSubject,
    event(offset) {
      const index = from + offset;
      const visitor = `customer-${index % visitors}`;
      return {
        visitor,
        append(frame) {
          const id = `event-${index}`;
          const head = envelopeHead(prefix, { kind: 'track', id, at: atMs, ip: '127.0.0.1', ua: 'bench' });
          frame.appendEnvelope(head, Buffer.from(trackJson(visitor, id, atMs)));
        },
      };
    },
  });
}

const trackJson = (visitor: string, id: string, atMs: number): string =>
  `{"token":"","distinctId":"${id}","event":"Product Viewed","externalId":"${visitor}","properties":{"product_id":"sku-48151","price":249.5,"sent_at":${atMs}}}`;
