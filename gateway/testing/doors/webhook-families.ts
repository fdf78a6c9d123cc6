import { providerExamples } from '../../../shared/sources/testing/examples.ts';
import type { TestSource } from '../test-log.ts';
import { providerSource, testSources } from '../test-sources.ts';
import { mutated, perhapsCut } from './door-case.ts';
import type { DoorCase, DoorFamily } from './door-case.ts';
import { factsOf, toTree, writeTree } from './json-tree.ts';
import type { Random } from './random.ts';
import { webhookVerdict } from './verdicts.ts';

/** Any time is valid here: an event outside the time window gets the time of its arrival. */
const sentAtMs = Date.parse('2026-11-27T00:00:00Z');
const examples = providerExamples(sentAtMs).map((example) => ({ ...example, source: providerSource(example.type) }));
const jsonExamples = examples.filter(({ contentType = 'application/json' }) => contentType === 'application/json');
const formExamples = examples.filter(
  ({ contentType }) => contentType !== undefined && contentType !== 'application/json',
);

/** Sources that only these cases need. */
export const doorSources: readonly TestSource[] = [
  ...new Map(examples.map(({ source }) => [source.entity.id, source])).values(),
];

export const webhookFamily: DoorFamily = (random) => {
  if (random.chance(0.2)) return formWebhook(random);
  const hook = { type: 'Webhook', source: testSources.hook, body: JSON.stringify({ order: 1, lines: [{ sku: 'a' }] }) };
  const { type, source, body } = random.pick([...jsonExamples, hook]);
  const one = mutated(random, toTree(JSON.parse(body)), false);
  const isArray = random.chance(0.3) && factsOf(one).isJson;
  // A valid member is stored even if the array also contains an invalid one.
  const tree = isArray ? [one, toTree(JSON.parse(body))] : one;
  const verdict = isArray ? 'stored' : webhookVerdict(one);
  const found: DoorCase = {
    family: `webhook ${type}`,
    method: 'POST',
    path: `/webhook/${source.token}`,
    headers: {
      'content-type': random.pick([
        'application/json',
        'application/json; charset=utf-8',
        'text/json',
        'application/vnd.api+json',
      ]),
    },
    body: Buffer.alloc(0),
    verdicts: [verdict],
    statuses: (stored) => (stored > 0 || verdict === 'either' ? [200, 400, 413] : [400, 413]),
    contains: [],
  };
  return perhapsCut(random, found, writeTree(tree), [400]);
};

function formWebhook(random: Random): DoorCase {
  const { type, source, body, contentType = '' } = random.pick(formExamples);
  const bytes = Buffer.from(body);
  for (let times = random.below(6); times > 0; times -= 1) bytes[random.below(bytes.length)] = random.below(256);
  return {
    family: `webhook ${type} form`,
    method: 'POST',
    path: `/webhook/${source.token}`,
    headers: { 'content-type': contentType },
    body: bytes,
    verdicts: ['either'],
    statuses: (stored) => (stored > 0 ? [200] : [200, 400, 413]),
    contains: [],
  };
}
