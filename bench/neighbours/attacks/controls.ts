import { addSinkDestination } from './attack.ts';
import type { Attack, Strike } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const batchesPerS = 9;
const rows = 1_000;

/** Not an attack: the figures without a neighbour, which show how much the figures scatter. */
export const nobody: Attack = {
  name: 'nobody',
  summary: 'no attack: how far these figures move by themselves',
  prepare: () => Promise.resolve({}),
  run: wait,
};

/** Not an attack: any load that leaves no core idle, against which Sluice's limits can do nothing. */
export const foreignPrograms: Attack = {
  name: 'foreign-programs',
  summary: 'programs that have nothing to do with Sluice and only compute, one per core',
  fillsProcessors: true,
  prepare: () => Promise.resolve({}),
  run: wait,
};

/** Not an attack: a well-behaved account that uses much of the machine. */
export const busyNeighbour: Attack = {
  name: 'busy-neighbour',
  summary: `${batchesPerS * rows} ordinary events per second of a well-behaved account, in batches of ${rows}`,
  expects: { answers: ['200'], perS: batchesPerS },
  prepare: addSinkDestination,
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 8);
    await strikeAtRate(signal, { perS: batchesPerS, atOnceMax: 8 }, (index) => {
      const events = Array.from({ length: rows }, (_, row) => ({
        event: 'Product Viewed',
        distinctId: `${runId}-${index}-${row}`,
        userId: `visitor-${(index * rows + row) % 5_000}`,
        properties: { product_id: 'sku-48151', name: 'Walnut desk with two drawers', price: 249.5, currency: 'EUR' },
      }));
      return send({
        url: `${target.gatewayUrl}/api/v1/batch`,
        body: JSON.stringify({ token: target.token, events }),
      });
    });
  },
};

async function wait({ signal }: Strike): Promise<void> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
