import { addSinkDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const rows = 1_000;
/** As many batches as the rate limit of a source accepts. */
const batchesPerS = 9;

/** A visitor of the maximum size, with as many tiny events as are accepted; each delivery carries the whole visitor. */
export const heavyVisitor: Attack = {
  name: 'heavy-visitor',
  summary: `a visitor of 30 KB and ${rows * batchesPerS} events of 60 bytes per second for it`,
  expects: { answers: ['200'], perS: batchesPerS },
  prepare: addSinkDestination,
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 8);
    const { token } = target;
    const custom = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, 'x'.repeat(980)]));
    const visitor = { token, externalId: 'heavy', userProperties: { custom_properties: custom } };
    await send({ url: `${target.gatewayUrl}/api/v1/identify`, body: JSON.stringify(visitor) });
    await strikeAtRate(signal, { perS: batchesPerS, atOnceMax: 8 }, (index) => {
      const events = Array.from({ length: rows }, (_, row) => ({
        event: 'x',
        externalId: 'heavy',
        distinctId: `${runId}-${index}-${row}`,
      }));
      return send({ url: `${target.gatewayUrl}/api/v1/batch`, body: JSON.stringify({ token, events }) });
    });
  },
};
