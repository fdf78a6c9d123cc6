import { addDestination } from './attack.ts';
import type { Attack, Strike } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const eventsPerS = 500;
const backlogBatches = 20;
const batchRows = 500;
const silentNames = 64;
const eventsOfNamesPerS = 50;

/** An endpoint that rejects everything, but never with enough failures in a row to open the breaker. */
export const alternatingEndpoint: Attack = {
  name: 'alternating-endpoint',
  summary: `an endpoint that answers 400 and 500 in turn, ${eventsPerS} events per second for it`,
  expects: { answers: ['200'], perS: eventsPerS },
  async prepare(ground) {
    const { id } = await ground.control.call('POST', 'destinations', {
      type: 'HTTPDestination',
      name: 'alternating',
      settings: { httpDestinationUrl: ground.hostileUrl('alternate'), method: 'POST', batchSize: '1' },
    });
    return { destination: String(id) };
  },
  run: (strike) => trackAtRate(strike, eventsPerS),
};

/** Two destinations that accept nothing, one dead and one hanging, with a large backlog. */
export const deadDestinations: Attack = {
  name: 'dead-destinations',
  summary: `a dead and a hanging destination, with ${backlogBatches * batchRows} waiting events and ${eventsPerS} more per second`,
  expects: { answers: ['200'], perS: eventsPerS },
  async prepare(ground) {
    await addDestination(ground, ground.deadUrl);
    await addDestination(ground, ground.hostileUrl('hang'));
    return {};
  },
  async run(strike) {
    const { target } = strike;
    const send = createSend(strike, 8);
    for (let batch = 0; batch < backlogBatches && !strike.signal.aborted; batch += 1) {
      const events = Array.from({ length: batchRows }, (_, row) => eventOf(`backlog-${batch}-${row}`));
      await send({ url: `${target.gatewayUrl}/api/v1/batch`, body: JSON.stringify({ token: target.token, events }) });
    }
    await trackAtRate(strike, eventsPerS);
  },
};

/** Destinations with host names for which no name server answers. */
export const hangingNames: Attack = {
  name: 'hanging-names',
  summary: `${silentNames} destinations whose names hang, ${eventsOfNamesPerS} events per second for each`,
  expects: { answers: ['200'], perS: eventsOfNamesPerS },
  async prepare(ground) {
    for (let index = 0; index < silentNames; index += 1) await addDestination(ground, ground.silentUrl(`n${index}`));
    return {};
  },
  run: (strike) => trackAtRate(strike, eventsOfNamesPerS),
};

const eventOf = (id: string) => ({
  event: 'Attacked',
  distinctId: `${runId}-${id}`,
  userId: `visitor-${id.length % 7}-${id.slice(-2)}`,
  properties: { product_id: 'sku-48151', name: 'Walnut desk with two drawers', price: 249.5, currency: 'EUR' },
});

function trackAtRate(strike: Strike, perS: number): Promise<void> {
  const { target, signal } = strike;
  const send = createSend(strike, 32);
  return strikeAtRate(signal, { perS, atOnceMax: 64 }, (index) =>
    send({
      url: `${target.gatewayUrl}/api/v1/track`,
      body: JSON.stringify({ token: target.token, ...eventOf(`one-${index}`) }),
    }),
  );
}
