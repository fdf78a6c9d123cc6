import { addDestination } from './attack.ts';
import type { Attack } from './attack.ts';
import { createSend, runId, strikeAtRate } from './strike-loops.ts';

const expressions = 100;
const properties = 50;
const destinations = 4;
const characters = 4_000;
const eventsPerS = 50;

/** Several destinations, each with the costliest rules and templates that are accepted. */
export const expensiveRules: Attack = {
  name: 'expensive-rules',
  summary: `${destinations} destinations, each with ${expressions} expressions and ${properties} templates that insert all properties of an event of ${characters} letters, at ${eventsPerS} events per second`,
  expects: { answers: ['200'], perS: eventsPerS },
  async prepare(ground) {
    const { control } = ground;
    for (let index = 0; index < destinations; index += 1) {
      const destinationId = await addDestination(ground, ground.sinkUrl(`attacked/${index}`));
      const conditions = Array.from({ length: expressions }, (_, each) => ({
        condition: {
          property: 'event.event_properties.text',
          operator: 'MatchesRegex',
          value: `a[ab]{${3 + (each % 5)}}[cd]${each}`,
        },
      }));
      const mappings = Array.from({ length: properties }, (_, each) => ({
        property: `p${each}`,
        map: '{{event.event_properties}}{{event.event_properties}}',
        modification: 'None',
      }));
      await control.call('POST', 'collections/mappings', {
        destinationId,
        logic: { NOT: { OR: conditions } },
        mappings,
      });
    }
    return {};
  },
  async run(strike) {
    const { target, signal } = strike;
    const send = createSend(strike, 16);
    const text = Array.from({ length: characters }, (_, index) => ((index * 7919) % 13 < 6 ? 'a' : 'b')).join('');
    await strikeAtRate(signal, { perS: eventsPerS, atOnceMax: 32 }, (index) =>
      send({
        url: `${target.gatewayUrl}/api/v1/track`,
        body: JSON.stringify({
          token: target.token,
          event: 'Long',
          distinctId: `${runId}-${index}`,
          userId: `visitor-${index % 50}`,
          properties: { text },
        }),
      }),
    );
  },
};
