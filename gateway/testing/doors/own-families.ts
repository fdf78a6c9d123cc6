import { json, mutated, perhapsCut, token } from './door-case.ts';
import type { DoorCase, DoorFamily } from './door-case.ts';
import { Members, Raw, writeTree } from './json-tree.ts';
import { testSources } from '../test-sources.ts';
import { nativeVerdict } from './verdicts.ts';
import type { Verdict } from './verdicts.ts';

const contact = new Members([
  ['email', 'ann@example.com'],
  ['first_name', 'Ann'],
  [
    'custom_properties',
    new Members([
      ['plan', 'pro'],
      ['seats', new Raw('9007199254740993')],
    ]),
  ],
]);
const nativeRow = (id: string, nowMs: number): Members =>
  new Members([
    ['event', 'Order Completed'],
    ['distinctId', id],
    ['userId', 'device-1'],
    ['externalId', 'customer-1'],
    ['email', 'ann@example.com'],
    ['time', new Raw(String(nowMs - 60_000))],
    [
      'eventProperties',
      new Members([
        ['total', new Raw('42.5')],
        ['items', [new Members([['sku', 'a']])]],
      ]),
    ],
    ['userProperties', contact],
    ['custom_properties', new Members([['tier', 'gold']])],
    [
      'defaultProperties',
      new Members([
        ['current_url', 'https://shop.example/'],
        ['is_bot', false],
      ]),
    ],
    [
      'identityContext',
      new Members([
        ['ip', '192.0.2.1'],
        ['userAgent', 'Mozilla/5.0'],
      ]),
    ],
  ]);

export const nativeBatchFamily: DoorFamily = (random) => {
  const nowMs = Date.now();
  const big = random.digits(25);
  const good = nativeRow(`good-${big}`, nowMs).with('eventProperties', new Members([['big', new Raw(big)]]));
  const rows = [
    ...Array.from({ length: 1 + random.below(4) }, (_, n) =>
      mutated(random, nativeRow(`row-${n}-${big}`, nowMs), false),
    ),
    good,
  ];
  const bytes = writeTree(
    new Members([
      ['token', token],
      ['events', rows],
    ]),
  );
  const found: DoorCase = {
    family: 'batch',
    method: 'POST',
    path: '/api/v1/batch',
    headers: json,
    body: bytes,
    verdicts: rows.map((row) => nativeVerdict(row, 'row', nowMs)),
    statuses: (stored, messages) => [stored === messages ? 200 : 207],
    contains: [`"big":${big}`],
  };
  return perhapsCut(random, found, bytes, [400]);
};

export const nativeSingleFamily: DoorFamily = (random) => {
  const nowMs = Date.now();
  const kind = random.pick(['track', 'identify'] as const);
  const changed = mutated(random, nativeRow(`one-${random.digits(12)}`, nowMs), false);
  const message = changed instanceof Members ? changed.with('token', token) : changed;
  const found: DoorCase = {
    family: kind,
    method: 'POST',
    path: `/api/v1/${kind}`,
    headers: json,
    body: Buffer.alloc(0),
    verdicts: [nativeVerdict(message, kind, nowMs)],
    statuses: (stored) => (stored > 0 ? [200] : [400, 401]),
    contains: [],
  };
  return perhapsCut(random, found, writeTree(message), [400, 401]);
};

const queryTexts = [
  '',
  ' ',
  'a',
  'é😀',
  'a%zz',
  '\u0000',
  '<script>',
  '-1',
  '1e400',
  '9007199254740993',
  'x'.repeat(401),
  'x'.repeat(1_001),
];

/** Pixel and redirect: the event comes from the query. A redirect always leads to its page. */
export const queryFamily: DoorFamily = (random) => {
  const isPixel = random.chance(0.5);
  const names = [
    'userId',
    'externalId',
    'email',
    'time',
    'utm_source',
    'gclid',
    'gdpr_consent',
    'x',
    '__proto__',
    'constructor',
  ];
  const parameters = Array.from(
    { length: random.below(6) },
    () => [random.pick(names), random.pick(queryTexts)] as const,
  );
  const event = random.pick(queryTexts);
  const query = [...parameters, ...(isPixel ? [['event', event] as const] : [])]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const own = new Set(['userId', 'externalId', 'email', 'time']);
  const isOwn = parameters.some(([name]) => own.has(name));
  const verdict: Verdict = isOwn
    ? 'either'
    : !isPixel || (event !== '' && event.length <= 1_000)
      ? 'stored'
      : 'refused';
  return {
    family: isPixel ? 'pixel' : 'redirect',
    method: 'GET',
    path: isPixel ? `/pixel/${testSources.server.token}.gif?${query}` : `/redirect/${testSources.link.token}?${query}`,
    headers: {},
    body: Buffer.alloc(0),
    verdicts: [isPixel ? verdict : isOwn ? 'either' : 'stored'],
    statuses: (stored) => (isPixel ? (stored > 0 ? [200] : [400]) : [302]),
    contains: [],
  };
};
