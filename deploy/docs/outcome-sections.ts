import type { OfferedKind } from '../../shared/destinations/common-settings.ts';
import { eventOutcome, eventOutcomes, leavesOf } from '../../shared/destinations/event-outcomes.ts';
import type { EventOutcome, ShownRequest } from '../../shared/destinations/event-outcomes.ts';
import type { ErasureOrder } from '../../shared/destinations/sdk/erasure.ts';
import { limitedDataUse } from '../../shared/destinations/sdk/limited-data-use.ts';
import { contentOf } from '../../shared/destinations/sdk/request-content.ts';
import { standardSamples } from '../../shared/destinations/sdk/standard-samples.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { table } from './api-pages.ts';

/**
 * Sections on the outcome of each call and standard event with the example settings, and on the requests that the kind
 * builds.
 */
export function outcomeSections(kind: OfferedKind): readonly string[] {
  const outcomes = eventOutcomes(kind, kind.exampleSettings);
  const sent = outcomes.filter((outcome) => outcome.outcome === 'sent');
  return [
    '## What each event becomes',
    'Without a mapping, with the settings above, for a fully known customer.',
    table(
      ['Event', 'Sent as', 'Request'],
      outcomes.map((outcome) => [`\`${outcome.label}\``, ...outcomeCells(outcome)]),
    ),
    ...(sent.length === 0
      ? []
      : [
          '### Example requests',
          'Built by the code of the kind from made-up events. Events not shown give the same members as an event above them.',
          ...oneOfEachShape(sent).map(details),
        ]),
    ...notSent(outcomes),
    ...notCarried(kind),
  ];
}

type Sent = Extract<EventOutcome, { outcome: 'sent' }>;

/** The first event of each shape of requests (the same addresses and members). */
function oneOfEachShape(sent: readonly Sent[]): readonly Sent[] {
  const shapes = new Map<string, Sent>();
  for (const outcome of sent) {
    const shape = outcome.requests.map(({ method, url, content }) => [
      method,
      pathOf(url),
      ...new Set([...leavesOf(content)].map(([path]) => path)),
    ]);
    const key = JSON.stringify(shape);
    if (!shapes.has(key)) shapes.set(key, outcome);
  }
  return [...shapes.values()];
}

function outcomeCells(outcome: EventOutcome): readonly [sentAs: string, request: string] {
  if (outcome.outcome !== 'sent')
    return [`${outcome.outcome === 'skipped' ? 'Skipped' : 'Rejected'}: ${outcome.reason}`, '–'];
  const { name, requests } = outcome;
  return [
    name === undefined ? '–' : `\`${name}\``,
    requests.map(({ method, url }) => `\`${method} ${pathOf(url)}\``).join(', then '),
  ];
}

const pathOf = (url: string): string => new URL(url).pathname;

function details({ label, requests }: Sent): string {
  return `<details>\n<summary><code>${label}</code></summary>\n\n${requests.map(showRequest).join('\n\n')}\n\n</details>`;
}

export function showRequest({ method, url, content }: ShownRequest): string {
  const head = `\`\`\`http\n${method} ${url}\n\`\`\``;
  if (method === 'GET') return head;
  const isText = typeof content === 'string';
  const body = isText ? content.replaceAll('`', '’') : JSON.stringify(content, undefined, 2);
  return `${head}\n\n\`\`\`${isText ? 'text' : 'json'}\n${body}\n\`\`\``;
}

/** The section on features of other integrations that this kind does not have. */
const notCarried = ({ facts }: OfferedKind): readonly string[] =>
  facts.notCarried === undefined
    ? []
    : ['### Not carried', facts.notCarried.map((line) => `- ${line[0]?.toUpperCase()}${line.slice(1)}.`).join('\n')];

/** The section on properties of an order that no request contains in any form. */
function notSent(outcomes: readonly EventOutcome[]): readonly string[] {
  const outcome = outcomes.find(({ label }) => label === 'Order Completed');
  const order = standardSamples.find(({ label }) => label === 'Order Completed')?.properties;
  if (outcome?.outcome !== 'sent' || order === undefined) return [];
  const texts = outcome.requests.flatMap(({ url, content }) => [
    decodeURIComponent(url).toLowerCase(),
    ...[...leavesOf(content)].map(([, leaf]) => String(leaf).toLowerCase()),
  ]);
  const isCarried = (leaf: string | number): boolean =>
    formsOf(leaf).some((form) => texts.some((text) => holds(text, form)));
  const missing = [...new Set([...leavesOf(order)].flatMap(([path, leaf]) => (isCarried(leaf) ? [] : [path])))];
  return [
    '### Order properties not sent',
    missing.length === 0
      ? 'Every property of `Order Completed` above is sent.'
      : `${missing.map((path) => `\`${path}\``).join(', ')}. A [mapping](/docs/destinations.html#mappings) sends them where the platform has a member for them.`,
  ];
}

/** Whether a text contains a form of a value. A short form within a longer word or number does not count. */
function holds(text: string, form: string): boolean {
  if (text === form) return true;
  return form.length > 3 ? text.includes(form) : new RegExp(`(^|[^\\w.])${form}($|[^\\w.])`).test(text);
}

/** The forms in which a value may be sent: unchanged, with decimals, in minor units, or in millionths. */
function formsOf(leaf: string | number): readonly string[] {
  if (typeof leaf === 'string') return [leaf.toLowerCase()];
  const minor = Math.round(leaf * 100);
  return [String(leaf), leaf.toFixed(2), ...(Number.isInteger(leaf) ? [] : [String(minor), String(minor * 10_000)])];
}

/** The section on how limited use is sent to the platform, and how the platform erases a person. */
export function privacySection(kind: OfferedKind): readonly string[] {
  return [
    '## Privacy',
    'Purposes of the destination decide, by the visitor’s consent, whether an event is sent at all: [privacy](/docs/privacy.html).',
    limitedUse(kind),
    erasure(kind),
  ];
}

function limitedUse(kind: OfferedKind): string {
  const order = standardSamples.find(({ label }) => label === 'Order Completed');
  if (order === undefined) throw new Error('documentation: there is no sample of an order');
  const prepared = kind.prepare(kind.exampleSettings);
  const usual = eventOutcome(kind, prepared, order);
  const limited = eventOutcome(kind, prepared, order, { [limitedDataUse]: true });
  const head = 'An event whose use is limited (`limited_data_use` of the event or of the visitor’s consent) is';
  if (usual.outcome !== 'sent' || limited.outcome !== 'sent')
    return usual.outcome === limited.outcome
      ? `${head} not sent, like every other event with the settings above.`
      : `${head} skipped.`;
  const before = new Set(lines(usual));
  const added = lines(limited).filter((line) => !before.has(line));
  return added.length === 0
    ? `${head} sent like every other event.`
    : `${head} sent with ${added.map((line) => `\`${line}\``).join(', ')}.`;
}

const lines = ({ requests }: Sent): readonly string[] =>
  requests.flatMap(({ url, content }) => [
    ...[...new URL(url).searchParams].map(([name, value]) => `${name}: ${value}`),
    ...membersOf(content),
  ]);

function* membersOf(value: unknown, path = ''): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value as JsonObject))
      yield* membersOf(each, Array.isArray(value) ? `${path}[]` : path === '' ? name : `${path}.${name}`);
  } else yield `${path}: ${JSON.stringify(value)}`;
}

const exampleErasure: ErasureOrder = {
  subject: {
    visitorIds: ['0197a0c4-5e00-7000-8000-00000000a0da'],
    externalIds: ['customer-7'],
    emails: ['ada@example.com'],
    phones: ['+14155550123'],
  },
  id: '0197a0c4-5e00-7000-8000-00000000e0a5',
  requestedAtMs: 1_700_000_000_000,
  dueAtMs: 1_702_592_000_000,
  isSuppressed: false,
};

function erasure(kind: OfferedKind): string {
  if (kind.prepareErasure === undefined)
    return 'An erasure is not forwarded: the platform has no known interface that deletes a person. It is listed as manual.';
  const step = kind.prepareErasure(kind.exampleSettings).begin(exampleErasure);
  switch (step.kind) {
    case 'send': {
      const { method, url } = step.request;
      const request = showRequest({ method, url, content: contentOf(step.request) });
      return `An erasure is forwarded; its first request:\n\n${request}`;
    }
    case 'manual':
      return `An erasure is listed as manual: ${step.reason}`;
    case 'nothing':
      return `An erasure needs no request: ${step.reason}`;
    case 'retry':
    case 'failed':
      return `An erasure with the settings above: ${step.reason}`;
    case 'done':
    case 'requested':
      return 'An erasure is forwarded.';
  }
}
