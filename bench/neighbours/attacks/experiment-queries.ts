import type { Attack } from './attack.ts';
import { createSend, strikeAtRate } from './strike-loops.ts';

const experiments = 20;
const rules = 20;
const askedPerS = 200;

/** Page views with the longest permitted query, for experiments whose rules read as much of the query as permitted. */
export const experimentQueries: Attack = {
  name: 'experiment-queries',
  summary: `${askedPerS} pages per second with a query of 8,000 characters, for ${experiments} experiments of ${rules} rules`,
  // The account's limit refuses most pages.
  expects: { answers: ['200', '429'], perS: askedPerS },
  async prepare({ control }) {
    const { token } = await control.call('POST', 'collections/experimentSettings', {});
    for (let index = 0; index < experiments; index += 1) {
      const { id } = await control.call('POST', 'collections/experiments', {
        name: `Attack ${index}`,
        key: `attack-${index}`,
        type: 'personalization',
        queryRules: Array.from({ length: rules }, (_, rule) => ({
          parameter: 'p',
          operator: rule % 2 === 0 ? 'regex' : 'contains',
          value: rule % 2 === 0 ? '(a|b)*a(a|b){4}c|.' : '',
        })),
      });
      const variant = { experimentId: id, name: 'One' };
      await control.call('POST', 'collections/experimentVariants', { ...variant, isControl: true });
      await control.call('POST', `collections/experiments/${String(id)}/start`);
    }
    return { token: String(token) };
  },
  async run(strike) {
    const { target, facts, signal } = strike;
    const send = createSend(strike, 64);
    const search = `?${`p=${'ab'.repeat(496)}&`.repeat(8)}`;
    await strikeAtRate(signal, { perS: askedPerS, atOnceMax: 64 }, (index) =>
      send({
        url: `${target.controlUrl}/experiments/personalization`,
        body: JSON.stringify({ token: facts['token'], visitor_id: `visitor-${index}`, context: { search } }),
      }),
    );
  },
};
