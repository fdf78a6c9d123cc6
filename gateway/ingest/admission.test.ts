import { expect, test } from 'vitest';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';
import { testLiveConfig } from '../../shared/testing/test-account-config.ts';
import type { Exchange } from '../http/exchange.ts';
import { tooMuchWaits } from '../http/reply.ts';
import { Admission, Admitted } from './admission.ts';
import { PublishedSources } from './published-sources.ts';

/** Admits requests of one source key, which may send 20 events and 2,000 bytes at once. */
function createRig() {
  const sources = new PublishedSources({ eventsPerS: 10, bytesPerS: 1_000, burstS: 2 }, () => undefined);
  const config = testLiveConfig(
    { sources: [{ id: 's1', type: 'WebSource', status: 'Enabled' }] },
    { accountId: 'one', sourceKeys: [{ keyHash: hashSourceKey('live'), sourceId: 's1', test: false }] },
  );
  sources.apply({ accountId: 'one', revision: 1, config });
  const admission = new Admission(sources, {} as ClientAddress);
  return {
    source: sources.byToken('live'),
    /** The status of the refusal; 200 without one. */
    admit(events: number, bodyBytes = 0): number {
      const exchange = { head: { origin: '', referer: '' }, bodyBytes } as unknown as Exchange;
      const admitted = admission.admitToken(exchange, 'live', events);
      return admitted instanceof Admitted ? 200 : admitted.code;
    },
  };
}

test('admission: a request without events is admitted while its key or its account may send none', () => {
  const { source, admit } = createRig();
  expect([admit(1_000), admit(1), admit(0)]).toEqual([200, 429, 200]);
  const other = createRig();
  if (other.source !== undefined) other.source.intake.refusal = tooMuchWaits;
  expect([other.admit(1), other.admit(0)]).toEqual([429, 200]);
  expect(other.source?.tally).toMatchObject({ backpressure: 1 });
  expect(source?.tally).toMatchObject({ limited: 1 });
});

test('admission: a request that is refused for its bytes uses none of the events of its key', () => {
  const { admit } = createRig();
  expect([admit(1, 100_000), admit(15, 10), admit(15)]).toEqual([200, 429, 200]);
});
