import { expect, test } from 'vitest';
import type { ClientAddress } from '../../shared/admission/client-address.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import { testLiveConfig } from '../../shared/testing/test-account-config.ts';
import type { Exchange } from '../http/exchange.ts';
import { accepted } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { Admission } from '../ingest/admission.ts';
import type { MadeEvents } from '../ingest/made-events.ts';
import { PublishedSources } from '../ingest/published-sources.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { Webhooks } from './receive-webhooks.ts';

/** Webhooks for one source key, which may send 20 events at once. Returns the status of a request of `events` events. */
function createRig(): (events: number) => number {
  const sources = new PublishedSources({ eventsPerS: 0.001, bytesPerS: 1_000_000, burstS: 20_000 }, () => undefined);
  const config = testLiveConfig(
    { sources: [{ id: 's1', type: 'Webhook', status: 'Enabled' }] },
    { accountId: 'one', sourceKeys: [{ keyHash: hashSourceKey('live'), sourceId: 's1', test: false }] },
  );
  sources.apply({ accountId: 'one', revision: 1, config });
  const webhooks = new Webhooks({
    admission: new Admission(sources, {} as ClientAddress),
    events: {} as SingleEvent,
    made: { store: (exchange: Exchange) => exchange.send(accepted) } as unknown as MadeEvents,
    limits: { depthMax: 10, keysMax: 100, timeWindow: { pastMsMax: 1_000, aheadMsMax: 1_000 } },
    bodyBytesMax: 100_000,
    settings: {
      eventsMax: 1_000,
      arrayKeysMax: 1_000,
      signatureAgeMsMax: 1_000,
      gzip: { ratioMax: 10, inFlight: new ConcurrencyLimit({ ofOwnerMax: 1 }) },
    },
  });
  return (events) => {
    const answers: Reply[] = [];
    const head = { origin: '', referer: '', contentEncoding: '', contentType: 'application/json' };
    const exchange = { head, bodyBytes: 0, send: (reply: Reply) => answers.push(reply) } as unknown as Exchange;
    const body = Buffer.from(JSON.stringify(Array.from({ length: events }, (_, n) => ({ n }))));
    webhooks.accept(exchange, body, { token: 'live', query: '' });
    return answers[0]?.code ?? 0;
  };
}

test('webhooks: a request of more events than the burst of its key passes at a full burst, and leaves a debt', () => {
  const send = createRig();
  expect([send(30), send(1)]).toEqual([200, 429]);
});

test('webhooks: a request that is refused for its events uses none of the events of its key', () => {
  const send = createRig();
  expect([send(5), send(30), send(30), send(15), send(2)]).toEqual([200, 429, 429, 200, 429]);
});
