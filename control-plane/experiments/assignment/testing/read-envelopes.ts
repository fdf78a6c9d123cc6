import type { Envelope } from '../../../../shared/contracts/events/envelope.ts';
import { decodeEnvelopes } from '../../../../shared/contracts/events/envelope.ts';
import { client } from '../../../../shared/nats/connection/client.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';

/** Every event in INGEST, in order. */
export async function readEnvelopes({ [client]: { jsm } }: LogConnection): Promise<Envelope[]> {
  const { state } = await jsm.streams.info('INGEST');
  const envelopes: Envelope[] = [];
  for (let seq = 1; seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage('INGEST', { seq });
    envelopes.push(...decodeEnvelopes(message.data));
  }
  return envelopes;
}
