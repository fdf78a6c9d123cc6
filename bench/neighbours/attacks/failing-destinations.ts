import { topologyEnv } from '../../../shared/nats/streams/topology-settings.ts';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import { addDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const destinations = 1_024;
const addedAtOnce = 4;
const batchesPerS = 4;
const batchRows = 250;

const stores = defaultsOf(topologyEnv);

/**
 * One source key and many destinations that fail every other request, which keeps their breakers closed: one received
 * event goes to the retry log a thousand times. The log's streams have their default sizes.
 */
export const failingDestinations: Attack = {
  name: 'failing-destinations',
  summary: `${destinations} destinations that fail every other request, ${batchesPerS * batchRows} events per second for all of them`,
  expects: { answers: ['200'], perS: batchesPerS },
  leavesMuch: true,
  env: {
    LOG_INGEST_BYTES_MAX: String(stores.LOG_INGEST_BYTES_MAX),
    LOG_EVENTS_BYTES_MAX: String(stores.LOG_EVENTS_BYTES_MAX),
    LOG_RETRY_BYTES_MAX: String(stores.LOG_RETRY_BYTES_MAX),
  },
  async prepare(ground) {
    let added = 0;
    const add = async (): Promise<void> => {
      while (added < destinations) {
        added += 1;
        await addDestination(ground, ground.hostileUrl('fail-half'));
      }
    };
    await Promise.all(Array.from({ length: addedAtOnce }, add));
    return {};
  },
  run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 8);
    return strikeAtRate(signal, { perS: batchesPerS, atOnceMax: 8 }, (batch) => {
      const events = Array.from({ length: batchRows }, (_, row) => ({
        event: 'Attacked',
        distinctId: `${runId}-${batch}-${row}`,
        userId: `visitor-${batch}-${row}`,
        properties: { text: 'x'.repeat(600) },
      }));
      return send({ url: `${target.gatewayUrl}/api/v1/batch`, body: JSON.stringify({ token: target.token, events }) });
    });
  },
};
