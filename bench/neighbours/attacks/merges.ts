import { addSinkDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const pairsPerS = 50;
const visitorsOfOne = 500;
const numbers = 1_500;

/** Visitors with different properties, merged into one, and numbers that PostgreSQL writes with 309 digits. */
export const merges: Attack = {
  name: 'merges',
  summary: `${pairsPerS} visitors per second with properties of their own, ${visitorsOfOne} of them merged into one`,
  expects: { answers: ['200'], perS: 2 * pairsPerS },
  prepare: addSinkDestination,
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 32);
    const url = `${target.gatewayUrl}/api/v1/identify`;
    const { token } = target;
    await strikeAtRate(signal, { perS: pairsPerS, atOnceMax: 64 }, async (index) => {
      const userId = `${runId}-${index}`;
      const externalId = `${runId}-all-${Math.floor(index / visitorsOfOne)}`;
      const property = index % 2 === 0 ? 'x'.repeat(15_000) : Array.from({ length: numbers }, () => 1e308);
      const custom = { [`p${index % visitorsOfOne}`]: property };
      await send({ url, body: JSON.stringify({ token, userId, userProperties: { custom_properties: custom } }) });
      await send({ url, body: JSON.stringify({ token, userId, externalId, userProperties: {} }) });
    });
  },
};
