import { envelopeHead, envelopeLine, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { partitionOf } from '../../../shared/contracts/events/partition.ts';
import { ingestSubject } from '../../../shared/contracts/subjects.ts';
import type { Sender } from '../../../shared/egress/sender.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { publishWithRetry, PublishError } from '../../../shared/nats/publish/publisher.ts';
import type { NoticeFetch } from '../../../shared/sources/sdk/notice-fetch.ts';
import type { ProviderEvent } from '../../../shared/sources/sdk/provider-event.ts';
import { fetchedEvent } from './compile-fetch.ts';

export type StoreFetchedOptions = {
  readonly fetch: NoticeFetch;
  readonly accountId: string;
  readonly sourceId: string;
  /** Partitions of the ingest stream. */
  readonly partitions: number;
  readonly connection: LogConnection;
};

/** Maximum number of attempts to store a fetched event; if all fail, the notice is followed again later. */
const publishesMax = 3;

/**
 * A sender that stores fetched events in the ingest log before it returns the answer. They are then resolved and
 * dispatched like other events of the source. If the log refuses an event, the answer counts as missing, and the event
 * is fetched again. The event's id derives from the provider's id, so deduplication drops an event that is stored
 * twice.
 */
export function storeFetched(sender: Sender, options: StoreFetchedOptions): Sender {
  return {
    async send(request, mayBegin) {
      const result = await sender.send(request, mayBegin);
      const event = result.kind === 'answered' ? fetchedEvent(options.fetch, result.answer) : undefined;
      if (event === undefined) return result;
      try {
        await publishEvent(options, event);
        return result;
      } catch (error) {
        if (!(error instanceof PublishError)) throw error;
        const reason = `the log did not store the fetched data: ${error.reason}`;
        return { kind: 'failed', failure: 'connection', reason, permanent: false };
      }
    },
    close: () => sender.close(),
  };
}

async function publishEvent(options: StoreFetchedOptions, event: ProviderEvent): Promise<void> {
  const { accountId, sourceId, partitions, connection } = options;
  const { id = '', userId, externalId, email, timeMs, traits, custom, context, kind } = event;
  const userProperties = { ...traits, ...(custom === undefined ? {} : { custom_properties: custom }) };
  const body = {
    distinctId: id,
    event: kind === 'identify' ? undefined : event.name,
    time: timeMs,
    userId,
    externalId,
    email,
    userProperties,
    eventProperties: event.properties,
    defaultProperties: context,
  };
  const head = envelopeHead(envelopePrefix({ account: accountId, source: sourceId, test: false }), {
    at: Date.now(),
    kind,
    id,
  });
  const frame = new FrameWriter();
  frame.appendLine(envelopeLine(head, JSON.stringify(body, withoutNulls)));
  const identity = { userId, externalId, email, userProperties, distinctId: id };
  const subject = ingestSubject(partitionOf(accountId, identity, partitions));
  const message = { subject, payload: frame.bytes(), msgId: `fetched.${sourceId}.${id}` };
  await publishWithRetry(connection, message, { attemptsMax: publishesMax });
}

/**
 * Replaces null characters: no destination or database accepts them, and a visitor's input in a form cannot be
 * corrected.
 */
function withoutNulls(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}
