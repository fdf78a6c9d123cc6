import { addSinkDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const rows = 1_000;
/**
 * As many batches as the rate limit of a source accepts; they contain more rows per second than PostgreSQL writes here.
 */
const batchesPerS = 9;

/** Only new visitors: each event inserts a row, and no cached visitor is used a second time. */
export const newVisitors: Attack = {
  name: 'new-visitors',
  summary: `${rows * batchesPerS} events per second, each of a new visitor with an externalId and an e-mail address`,
  expects: { answers: ['200'], perS: batchesPerS },
  leavesMuch: true,
  prepare: addSinkDestination,
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 8);
    await strikeAtRate(signal, { perS: batchesPerS, atOnceMax: 8 }, (index) => {
      const events = Array.from({ length: rows }, (_, row) => {
        const id = `${runId}-${index}-${row}`;
        return { event: 'x', distinctId: id, externalId: id, userProperties: { email: `${id}@example.com` } };
      });
      const body = JSON.stringify({ token: target.token, events });
      return send({ url: `${target.gatewayUrl}/api/v1/batch`, body });
    });
  },
};
