// Large: cases of one script.
import vm from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clickParameters } from '../contracts/events/click-ids.ts';
import { readWebSnippet } from './web-snippet.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Row = {
  readonly event: string;
  readonly userId: string;
  readonly time: number;
  readonly eventProperties: Readonly<Record<string, unknown>>;
  readonly userProperties?: Readonly<Record<string, unknown>>;
  readonly externalId?: string;
  readonly userHash?: string;
  readonly defaultProperties: Readonly<Record<string, unknown>>;
};
type PageOptions = {
  readonly cookie?: string;
  readonly href?: string;
  /** Calls that were made before the script was loaded. */
  readonly queue?: readonly unknown[];
  /** Whether page views are sent automatically. */
  readonly pages?: boolean;
  readonly prerendering?: boolean;
  /** `data-signals`, and the globals that the page's consent platforms define. */
  readonly signals?: string;
  readonly platform?: object;
  /** Answers a POST of events; by default with success. `outlives`: the request continues after the page has closed. */
  readonly post?: (outlives: boolean) => Promise<Response>;
  /** Defaults by purpose, and when the settings with them arrive; by default at once. */
  readonly purposes?: Readonly<Record<string, boolean>>;
  readonly settings?: Promise<void>;
  /** Cookies shared with another page of the site, or null if the browser blocks cookies. */
  readonly jar?: Map<string, string> | null;
  /** Error of the browser's clock. */
  readonly clockMs?: number;
  /** Whether the source has a container of tags. */
  readonly hasTags?: boolean;
};

/** Opens a page with the script as served, and records what the script sends. */
function openPage(options: PageOptions = {}) {
  const { cookie = '', href = 'https://shop.test/', queue = [], pages = false, prerendering = false, post } = options;
  const { signals, platform = {}, purposes = { ads: true }, settings, jar, clockMs = 0, hasTags } = options;
  const sent: Row[] = [];
  const bodies: string[] = [];
  const beacons: string[] = [];
  const warnings: unknown[][] = [];
  const cookies =
    jar ?? new Map(cookie === '' ? [] : cookie.split('; ').map((pair) => pair.split('=', 2) as [string, string]));
  const listeners = new Map<string, (event: object) => void>();
  const listen = (type: string, call: (event: object) => void): unknown => listeners.set(type, call);
  let asked = 0;
  const take = (body: string): void => {
    bodies.push(body);
    sent.push(...(JSON.parse(body) as { events: Row[] }).events);
  };
  const url = new URL(href);
  const page = {
    sluice: { q: queue },
    document: {
      currentScript: {
        src: 'https://in.test/sluice.js',
        dataset: {
          key: 'src_live_web',
          ...(pages ? {} : { pages: 'off' }),
          ...(signals === undefined ? {} : { signals }),
        },
      },
      referrer: '',
      title: 'Shop',
      visibilityState: 'visible',
      get cookie() {
        return [...cookies].map((pair) => pair.join('=')).join('; ');
      },
      set cookie(written: string) {
        if (jar === null) throw new Error('blocked');
        const [name = '', value = ''] = written.split(';', 1)[0]?.split('=', 2) ?? [];
        if (written.includes('Max-Age=0')) cookies.delete(name);
        else cookies.set(name, value);
      },
      prerendering,
      addEventListener: listen,
      createElement: () => ({}),
      head: { append: () => undefined },
    },
    location: { href, host: url.host, pathname: url.pathname, protocol: 'https:' },
    navigator: {
      language: 'en',
      sendBeacon: (_url: string, body: string) => {
        if (Buffer.byteLength(body) > 64 * 1024) return false;
        beacons.push(body);
        take(body);
        return true;
      },
    },
    screen: { width: 1, height: 1 },
    history: { pushState: (to: string) => go(to), replaceState: (to: string) => go(to) },
    addEventListener: listen,
    console: { warn: (...said: unknown[]) => warnings.push(said) },
    fetch: async (_address: string, init?: { readonly body: string; readonly keepalive: boolean }) => {
      asked += 1;
      if (init === undefined) {
        await settings;
        const consent = Object.entries(purposes).map(([name, granted]) => ({ name, granted }));
        const tags = hasTags === true ? { container: 'c', script: 's' } : undefined;
        return Response.json({ consent, now: Date.now(), tags });
      }
      // As in browsers, the bodies of keepalive requests, which may outlive the page, are limited.
      if (init.keepalive && Buffer.byteLength(init.body) > 64 * 1024) throw new TypeError('keepalive');
      const answer = post === undefined ? Response.json({ success: true }) : await post(init.keepalive);
      if (answer.ok) take(init.body);
      return answer;
    },
    setTimeout: (call: () => void, ms: number) => setTimeout(call, ms),
    clearTimeout: (timer: NodeJS.Timeout | undefined) => clearTimeout(timer),
    crypto,
    Date: { now: () => Date.now() + clockMs },
    URL,
    ...platform,
  };
  const go = (to: string): void => {
    page.location.href = to;
  };
  vm.runInNewContext(readWebSnippet().script, page);
  const call = page.sluice as unknown as (...command: readonly unknown[]) => void;
  const names = async (): Promise<readonly string[]> => {
    await vi.advanceTimersByTimeAsync(1_000);
    return sent.map(({ event }) => event);
  };
  return {
    call,
    names,
    sent,
    bodies,
    beacons,
    warnings,
    cookies,
    leave: () => listeners.get('pagehide')?.({}),
    page,
    go,
    asked: () => asked,
    fire: (type: string, event: object = {}) => listeners.get(type)?.(event),
  };
}

const circular: Record<string, unknown> = { a: 1 };
circular['self'] = circular;
const ofThrowingGetter = Object.defineProperty({}, 'bad', {
  enumerable: true,
  get: () => {
    throw new Error('getter');
  },
});
const { proxy: ofRevokedProxy, revoke } = Proxy.revocable({}, {});
revoke();

/** Values that are unusual, too large or not JSON, and the value sent for each; undefined: the property is left out. */
const values: readonly (readonly [name: string, value: unknown, sent: unknown])[] = [
  ['a BigInt', 10n, '10'],
  ['a BigInt inside', { deep: [10n] }, { deep: ['10'] }],
  ['a circular object', circular, undefined],
  ['a toJSON that throws', { toJSON: () => JSON.parse('{') as unknown }, undefined],
  ['a getter that throws', ofThrowingGetter, undefined],
  ['a date that is none', new Date(Number.NaN), null],
  ['a revoked proxy', ofRevokedProxy, undefined],
  ['a huge string', 'x'.repeat(6_000_000), undefined],
  ['a huge list', Array.from({ length: 100_000 }, () => 'x'), undefined],
  ['a function', () => 1, undefined],
  ['a symbol', Symbol('x'), undefined],
  ['half of a surrogate pair', '\ud800', '\ud800'],
];

test.each(values)('page script: %s affects only its property, never an event', async (_name, value, sentValue) => {
  const { call, names, sent } = openPage();
  call('track', 'Before', {});
  call('track', 'Odd', { n: value, good: 1 });
  expect(await names()).toEqual(['Before', 'Odd']);
  const expected = sentValue === undefined ? { good: 1 } : { n: sentValue, good: 1 };
  expect(sent[1]?.eventProperties).toEqual(expected);
  call('track', 'After', {});
  call('identify', 'ada', { n: value, plan: 'pro' });
  expect(await names()).toEqual(['Before', 'Odd', 'After', '$identify']);
  expect(sent[3]).toMatchObject({ externalId: 'ada', userProperties: { plan: 'pro' } });
});

test.each(values)('page script: %s as an argument of any call stops no other call', async (_name, value) => {
  const { call, names, leave } = openPage({ queue: [['track', 'Early', value], value, ['track', value]] });
  for (const command of ['track', 'page', 'identify', 'consent', 'reset', 'nothing']) call(command, value, value);
  call(value, value);
  call('track', 'After', {});
  const sent = await names();
  expect(sent[0]).toBe('Early');
  expect(sent).toContain('After');
  call('track', 'Last', { value });
  leave();
  expect(await names()).toContain('Last');
});

test('page script: a property that is left out is reported on the console', async () => {
  const { call, names, warnings } = openPage();
  call('track', 'Odd', { circular });
  await names();
  expect(warnings.map(([text, what]) => [text, what])).toEqual([['sluice: left out', 'circular']]);
});

test.each([
  ['a consent cookie with a broken escape', 'sluice_consent=%7B%22ads%22%3Atrue%'],
  ['a consent cookie that is no JSON', 'sluice_consent=yes'],
  ['a consent cookie that is no object', 'sluice_consent=null'],
  ['a consent cookie with other values', 'sluice_consent=%7B%22ads%22%3A%22no%22%7D'],
  ['a cookie of delivered grants with a broken escape', 'sluice_told=%E0%A4'],
  ['an id cookie with a broken escape', 'sluice_visitor_id=%E0%A4'],
  ['an id cookie that is too long for an id', `sluice_visitor_id=${'x'.repeat(401)}`],
])('page script: %s is ignored', async (_name, cookie) => {
  const { call, names, sent, cookies } = openPage({ cookie });
  call('track', 'Seen', {});
  call('consent', { ads: true });
  expect(await names()).toEqual(['Seen', '$identify']);
  expect(sent[0]?.userId).toMatch(/^[0-9a-f-]{36}$/);
  expect(cookies.get('sluice_visitor_id')).toBe(sent[0]?.userId);
});

test('page script: valid stored decisions and a valid stored id are used', async () => {
  const refused = openPage({ cookie: 'sluice_consent=%7B%22ads%22%3Afalse%7D' });
  refused.call('track', 'Held', {});
  expect(await refused.names()).toEqual([]);
  refused.call('consent', { ads: true });
  expect(await refused.names()).toEqual(['Held', '$identify']);
  const cookie = 'sluice_consent=%7B%22ads%22%3Atrue%7D; sluice_visitor_id=kept%20id';
  const { call, names, sent } = openPage({ cookie, purposes: { ads: false } });
  call('track', 'Sent', {});
  expect(await names()).toEqual(['Sent']);
  expect(sent[0]?.userId).toBe('kept id');
});

test('page script: loaded twice, the script counts everything once', async () => {
  const { page, names } = openPage({ pages: true });
  vm.runInNewContext(readWebSnippet().script, page);
  (page.sluice as unknown as (...command: readonly unknown[]) => void)('track', 'Seen');
  expect(await names()).toEqual(['Page Viewed', 'Seen']);
});

test('page script: a name that is too long for an event is cut to 1,000 characters', async () => {
  const { call, names } = openPage();
  call('track', 'n'.repeat(1_001));
  expect(await names()).toEqual(['n'.repeat(1_000)]);
});

test('page script: events sent as a page ends fit into beacons, whatever alphabet their texts use', async () => {
  const { call, beacons, leave } = openPage();
  await vi.advanceTimersByTimeAsync(10);
  call('track', 'Too large', { text: '文'.repeat(30_000) });
  for (let n = 0; n < 20; n += 1) call('track', `Event ${n}`, { text: '文'.repeat(3_000) });
  leave();
  const sent = beacons.flatMap((body) => (JSON.parse(body) as { events: Row[] }).events);
  expect(sent.map(({ event }) => event)).toEqual(Array.from({ length: 20 }, (_, n) => `Event ${n}`));
});

test('page script: a page address with thousands of parameters leaves room for the other events of its batch', async () => {
  const query = Array.from({ length: 3_000 }, (_, n) => `utm_${n}=${'x'.repeat(300)}`).join('&');
  const { call, names, bodies } = openPage({ href: `https://shop.test/?${query}` });
  for (let n = 0; n < 50; n += 1) call('track', `Event ${n}`, {});
  expect(await names()).toHaveLength(50);
  expect(Math.max(...bodies.map((body) => body.length))).toBeLessThan(5 * 1024 ** 2);
});

test('page script: a prerendered page sends nothing before it is visited', async () => {
  const { names, fire, asked, sent } = openPage({ pages: true, prerendering: true, queue: [['track', 'Early', {}]] });
  expect(await names()).toEqual([]);
  expect(asked()).toBe(0);
  fire('prerenderingchange');
  expect(await names()).toEqual(['Page Viewed', 'Early']);
  expect(sent[0]?.userId).toMatch(/^[0-9a-f-]{36}$/);
});

test('page script: a page restored from the browser’s cache sends its page view again', async () => {
  const { names, fire } = openPage({ pages: true });
  fire('pageshow', { persisted: false });
  expect(await names()).toEqual(['Page Viewed']);
  fire('pageshow', { persisted: true });
  expect(await names()).toEqual(['Page Viewed', 'Page Viewed']);
});

test('page script: click ids in the page’s address and cookies of ad platforms are sent with events', async () => {
  const query = clickParameters.map((name) => `${name}=of-${name}`).join('&');
  const cookie = '_fbp=fb.1.2.3; _ttp=t; _epik=e; _scid=s; _uetvid=u; other=o';
  const { call, names, sent } = openPage({ href: `https://shop.test/?${query}&clid=none&id=none`, cookie });
  call('track', 'x');
  await names();
  const found = sent[0]?.defaultProperties ?? {};
  for (const name of clickParameters) expect([name, found[name]]).toEqual([name, `of-${name}`]);
  expect(found).toMatchObject({ _fbp: 'fb.1.2.3', _ttp: 't', _epik: 'e', _scid: 's', _uetvid: 'u' });
  expect(found).not.toHaveProperty('other');
  expect(found).not.toHaveProperty('id');
});

test('page script: anchors and replaced addresses count as the same page, and routes after a # as new pages', async () => {
  const { names, fire, go, page, sent } = openPage({ pages: true, href: 'https://shop.test/a' });
  go('https://shop.test/a#faq');
  fire('popstate');
  for (const n of [1, 2, 3]) page.history.replaceState(`https://shop.test/a?at=${n}`);
  fire('popstate');
  go('https://shop.test/a?at=3#price');
  fire('popstate');
  page.history.pushState('https://shop.test/b');
  page.history.pushState('https://shop.test/b#top');
  go('https://shop.test/b#/cart');
  fire('popstate');
  go('https://shop.test/b#!/pay');
  fire('popstate');
  expect((await names()).length).toBe(sent.length);
  expect(sent.map(({ defaultProperties }) => defaultProperties['current_url'])).toEqual([
    'https://shop.test/a',
    'https://shop.test/b',
    'https://shop.test/b#/cart',
    'https://shop.test/b#!/pay',
  ]);
});

test.each([
  [42, '42'],
  [9_007_199_254_740_993n, '9007199254740993'],
  ['ada', 'ada'],
])('page script: identify with %s uses that id', async (id, externalId) => {
  const { call, names, sent, warnings } = openPage();
  call('identify', id, { plan: 'pro' });
  call('track', 'x');
  expect(await names()).toEqual(['$identify', 'x']);
  expect(sent.map((row) => row.externalId)).toEqual([externalId, externalId]);
  expect(warnings).toEqual([]);
});

test('page script: events of a person have the userHash that was given with its id, and no other person’s', async () => {
  const { call, names, sent } = openPage();
  call('identify', 'ada', { plan: 'pro' }, { userHash: 'hash-of-ada' });
  call('identify', undefined, { plan: 'free' });
  call('track', 'x');
  call('identify', 'bob', {}, null);
  call('identify', 'ada', {}, { userHash: 'hash-of-ada' });
  call('reset');
  call('track', 'y');
  expect(await names()).toHaveLength(6);
  const hash = 'hash-of-ada';
  expect(sent.map((row) => row.userHash)).toEqual([hash, hash, hash, undefined, hash, undefined]);
});

test('page script: an invalid id is reported on the console, and its traits are kept', async () => {
  const { call, names, sent, warnings } = openPage();
  for (const id of [{ id: 1 }, true, '']) call('identify', id, { plan: 'pro' });
  call('identify', undefined, { plan: 'pro' });
  expect(await names()).toHaveLength(4);
  expect(sent.map((row) => [row.externalId, row.userProperties?.['plan']])).toEqual(
    Array.from({ length: 4 }, () => [undefined, 'pro']),
  );
  expect(warnings).toHaveLength(3);
});

test('page script: an event is sent again after a fetch that throws instead of rejecting', async () => {
  let calls = 0;
  const { call, names } = openPage({
    post: () => {
      calls += 1;
      if (calls === 1) throw new Error('not even a promise');
      return Promise.resolve(Response.json({}));
    },
  });
  call('track', 'Seen', {});
  await names();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await names()).toEqual(['Seen']);
});

test('page script: an unsent withdrawal of consent is sent again under its old id, without later events', async () => {
  const answers = [200, 503];
  const { call, names, sent, cookies } = openPage({
    post: () => Promise.resolve(Response.json({}, { status: answers.shift() ?? 200, headers: { 'retry-after': '5' } })),
  });
  call('track', 'Before', {});
  await names();
  call('consent', { ads: false });
  await names();
  expect([answers, sent.length]).toEqual([[], 1]);
  call('track', 'After', {});
  // The same decision again withdraws nothing.
  call('consent', { ads: false });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await names()).toEqual(['Before', '$identify']);
  expect(sent[1]).toMatchObject({ userId: sent[0]?.userId, userProperties: { consent: { ads: false } } });
  expect([...cookies.keys()]).toEqual(['sluice_consent']);
  call('consent', { ads: true });
  expect((await names()).slice(2)).toEqual(['After', '$identify', '$identify']);
  expect(sent[2]?.userId).not.toBe(sent[0]?.userId);
});

test('page script: a withdrawal of consent just before a page ends is sent in a beacon, without later events', async () => {
  const { call, names, beacons, leave } = openPage();
  call('track', 'Before', {});
  await names();
  call('consent', { ads: false });
  call('track', 'After', {});
  leave();
  expect(beacons.map((body) => (JSON.parse(body) as { events: Row[] }).events.map(({ event }) => event))).toEqual([
    ['$identify'],
  ]);
});

test('signals: an event has the current answers of the consent platforms named in data-signals, and no other answers', async () => {
  let answer: (data: object, isDone: boolean) => void = () => undefined;
  const platform = {
    __tcfapi: (_command: string, _version: number, listen: typeof answer) => (answer = listen),
    __gpp: (_command: string, listen: (event: object) => void) =>
      listen({ pingData: { signalStatus: 'ready', gppString: 'DBABrw', applicableSections: [7, 8] } }),
    OptanonActiveGroups: ',C0001,',
  };
  const cookie = 'CookieConsent={marketing:true}; usprivacy=1YYN';
  const page = openPage({ platform, cookie, signals: 'tcf, gpp optanon cookieconsent' });
  page.call('track', 'Early');
  answer({ tcString: 'CP', gdprApplies: true }, true);
  await page.names();
  answer({ tcString: 'changed', gdprApplies: false }, false);
  page.call('track', 'Late');
  await page.names();
  const said = {
    tcf: 'CP',
    gdpr_applies: true,
    gpp: 'DBABrw',
    gpp_sid: '7_8',
    optanon: ',C0001,',
    cookieconsent: '{marketing:true}',
  };
  expect(page.sent.map(({ defaultProperties }) => defaultProperties)).toMatchObject([{ host: 'shop.test' }, said]);
  expect(page.sent[1]?.defaultProperties).not.toHaveProperty('us_privacy');
  const quiet = openPage({ platform, cookie });
  quiet.call('track', 'Quiet');
  await quiet.names();
  for (const name of [...Object.keys(said), 'us_privacy'])
    expect(quiet.sent[0]?.defaultProperties).not.toHaveProperty(name);
  const broken = openPage({
    platform: {
      __tcfapi: () => {
        throw new Error('no');
      },
    },
    signals: 'tcf',
  });
  broken.call('track', 'Broken');
  expect(await broken.names()).toEqual(['Broken']);
});

test.each([
  ['no decision', {}, undefined],
  ['a decision on one of two purposes', { analytics: true }, { analytics: true }],
  ['a decision on an unknown purpose', { other: false }, undefined],
])('consent: %s is recorded without the defaults of other purposes', async (_name, decided, recorded) => {
  const cookie = `sluice_consent=${encodeURIComponent(JSON.stringify(decided))}`;
  const { call, names, sent } = openPage({ cookie, purposes: { analytics: true, ads: false } });
  call('track', 'Seen');
  expect(await names()).toEqual(['Seen']);
  expect(sent[0]?.userProperties?.['consent']).toEqual(recorded);
});

/** Cookies of a visitor who allowed `ads` on an earlier page. */
const allowing = (): Map<string, string> =>
  new Map([
    ['sluice_consent', encodeURIComponent('{"ads":true}')],
    ['sluice_visitor_id', 'known'],
  ]);
const refusing = { event: '$identify', userId: 'known', userProperties: { consent: { ads: false } } };

/** Cookies of a visitor whose grants of `ads` and `social`, and denial of `analytics`, an earlier page delivered. */
async function delivered(): Promise<Map<string, string>> {
  const jar = new Map<string, string>();
  const { call, names, sent } = openPage({ jar, purposes: three });
  call('consent', { ads: true, analytics: false, social: true });
  expect(await names()).toEqual(['$identify']);
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: true, analytics: false, social: true } });
  return jar;
}
const three = { ads: false, analytics: false, social: false };

test('consent: of decisions that an earlier page delivered, only denials are repeated, as a grant may have been withdrawn elsewhere', async () => {
  const { call, names, sent } = openPage({ jar: await delivered(), purposes: three });
  call('track', 'Seen');
  await names();
  call('consent', { social: true });
  await names();
  call('consent', { ads: true });
  await names();
  expect(sent.map(({ userProperties }) => userProperties)).toEqual([
    { consent: { analytics: false } },
    { consent: { analytics: false, social: true } },
    { consent: { ads: true, analytics: false } },
  ]);
});

test('consent: on each page of a person who is identified there, no grant is repeated after its delivery', async () => {
  const jar = allowing();
  const views = async (): Promise<unknown> => {
    const { call, names, sent } = openPage({ jar, pages: true });
    await names();
    call('identify', 'ada');
    await names();
    return sent.map(({ userProperties }) => userProperties);
  };
  const consent = { ads: true };
  expect(await views()).toEqual([{ consent }, { consent }]);
  expect(await views()).toEqual([undefined, {}]);
  expect(await views()).toEqual([undefined, {}]);
});

test.each<[how: string, options: PageOptions, beacons: number]>([
  ['whose page ended before the settings arrived', { settings: new Promise(() => undefined) }, 0],
  ['sent in a beacon, which may be lost', {}, 1],
  ['whose page ended before the answer', { post: () => new Promise(() => undefined) }, 0],
  ['that was refused', { post: () => Promise.resolve(Response.json({}, { status: 403 })) }, 0],
])('consent: a grant %s is stated by the next page, once', async (_how, options, beacons) => {
  const jar = new Map([['sluice_visitor_id', 'known']]);
  const first = openPage({ jar, ...options });
  await first.names();
  first.call('consent', { ads: true });
  if (beacons === 0) await first.names();
  first.leave();
  expect(first.beacons).toHaveLength(beacons);
  // A later batch that is delivered does not count for the beacon.
  first.call('track', 'Later');
  await first.names();
  for (const stated of [{ consent: { ads: true } }, undefined]) {
    const next = openPage({ jar });
    next.call('track', 'Seen');
    await next.names();
    expect(next.sent).toMatchObject([{ event: 'Seen', userId: 'known' }]);
    expect(next.sent[0]?.userProperties).toEqual(stated);
  }
});

test('consent: a delivered grant is stated for another person who signs in on a later page', async () => {
  const { call, names, sent } = openPage({ jar: await delivered(), purposes: three });
  call('identify', 'bob');
  await names();
  const consent = { ads: true, analytics: false, social: true };
  expect(sent).toMatchObject([{ externalId: 'bob', userProperties: { consent } }]);
});

test('consent: a grant of a purpose that is published after the decision is stated, without the delivered ones', async () => {
  const jar = new Map<string, string>();
  const first = openPage({ jar, purposes: { ads: false } });
  first.call('consent', { ads: true, social: true });
  await first.names();
  expect(first.sent[0]?.userProperties).toEqual({ consent: { ads: true } });
  const next = openPage({ jar, purposes: { social: false, ads: false } });
  next.call('track', 'Seen');
  await next.names();
  expect(next.sent[0]?.userProperties).toEqual({ consent: { social: true } });
});

test('consent: the answer to a batch from before a later decision does not count as its delivery', async () => {
  let answer: (response: Response) => void = () => undefined;
  const answers = [new Promise<Response>((resolve) => (answer = resolve))];
  const { call, names, sent, leave } = openPage({
    purposes: { ads: true, analytics: true },
    post: () => answers.shift() ?? Promise.resolve(Response.json({})),
  });
  call('consent', { ads: true });
  await names();
  call('consent', { ads: false });
  leave();
  call('consent', { ads: true });
  answer(Response.json({}));
  await names();
  expect(sent.at(-1)?.userProperties).toEqual({ consent: { ads: true } });
});

test('consent: a decision is recorded for each person who signs in after it', async () => {
  const { call, names, sent } = openPage({ purposes: { ads: true, analytics: true } });
  call('identify', 'ada');
  call('consent', { ads: false });
  call('track', 'Seen');
  await names();
  call('identify', 'bob');
  call('track', 'Seen');
  await names();
  const consent = { ads: false };
  expect(sent.map(({ externalId, userProperties }) => [externalId, userProperties])).toEqual([
    ['ada', { consent }],
    ['ada', { consent }],
    ['ada', undefined],
    ['bob', { consent }],
    ['bob', undefined],
  ]);
});

test('consent: the words granted and denied are decisions, as for servers, and choices without one are reported', async () => {
  const { call, names, sent, warnings } = openPage({ purposes: { ads: true, analytics: true } });
  call('consent', { ads: 'denied', analytics: 'Granted' });
  await names();
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: false, analytics: true } });
  expect(warnings).toEqual([]);
  call('consent', { ads: 'yes' });
  expect(warnings).toHaveLength(1);
});

test('consent: purposes in the properties of identify are kept beside the decisions', async () => {
  const { call, names, sent } = openPage({ cookie: 'sluice_consent=%7B%22ads%22%3Atrue%7D' });
  call('identify', 'ada', { consent: { email: true } });
  await names();
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: true, email: true } });
});

test.each(['queued', 'called'])(
  'withdrawal: one that is %s before the settings arrive is sent, without other events',
  async (how) => {
    const jar = allowing();
    let arrive = (): void => undefined;
    const settings = new Promise<void>((resolve) => (arrive = resolve));
    const refusal = ['consent', { ads: false }];
    const queue = how === 'queued' ? [refusal] : [];
    const { call, names, sent } = openPage({ jar, settings, queue, pages: true, purposes: { ads: false } });
    if (how === 'called') call(...refusal);
    call('track', 'After');
    expect(await names()).toEqual([]);
    arrive();
    await names();
    expect(sent).toMatchObject([refusing]);
    expect(sent).toHaveLength(1);
    expect([...jar.keys()]).toEqual(['sluice_consent']);
    // A later consent is recorded at its own time, because the waiting events are older than the withdrawal.
    call('consent', { ads: true });
    expect((await names()).at(-1)).toBe('$identify');
    expect(sent.at(-1)?.userProperties).toEqual({ consent: { ads: true } });
  },
);

test('withdrawal: nothing is sent for a visitor who refuses before the settings arrive and never allowed', async () => {
  const jar = new Map<string, string>();
  const { call, names } = openPage({ jar, settings: Promise.resolve(), purposes: { ads: false } });
  call('consent', { ads: false });
  expect(await names()).toEqual([]);
  expect([...jar.keys()]).toEqual(['sluice_consent']);
});

test('withdrawal: one of a page that ended before the settings arrived is sent by the next page', async () => {
  const jar = allowing();
  const first = openPage({ jar, settings: new Promise(() => undefined) });
  first.call('consent', { ads: false });
  first.leave();
  expect(await first.names()).toEqual([]);
  const next = openPage({ jar, pages: true });
  await next.names();
  expect(next.sent).toMatchObject([refusing]);
  expect(next.sent).toHaveLength(1);
  expect([...jar.keys()]).toEqual(['sluice_consent']);
  expect(await openPage({ jar, pages: true }).names()).toEqual([]);
});

test('withdrawal: one that the gateway does not accept is sent by the next page', async () => {
  const jar = allowing();
  const first = openPage({ jar, post: () => Promise.resolve(Response.json({}, { status: 403 })) });
  await first.names();
  first.call('consent', { ads: false });
  expect(await first.names()).toEqual([]);
  const next = openPage({ jar });
  await next.names();
  expect(next.sent).toMatchObject([refusing]);
});

test('withdrawal: one that the log did not store, of a batch with rows that it stored, is sent again before the device is forgotten', async () => {
  const jar = allowing();
  const kept: boolean[] = [];
  const results = [
    { index: 0, success: true },
    { index: 1, success: false, code: 'queue_failed' },
  ];
  const answers = [Response.json({ success: false, accepted: 1, failed: 1, results }, { status: 207 })];
  const { call, names, sent } = openPage({
    jar,
    post: () => {
      kept.push(jar.has('sluice_visitor_id'));
      return Promise.resolve(answers.shift() ?? Response.json({}));
    },
  });
  await names();
  call('track', 'Before');
  call('consent', { ads: false });
  await names();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent.map(({ event }) => event)).toEqual(['Before', '$identify', 'Before', '$identify']);
  expect(sent.slice(2)).toEqual(sent.slice(0, 2));
  expect(kept).toEqual([true, true]);
  expect([...jar.keys()]).toEqual(['sluice_consent']);
});

test('page script: a batch with rows that are not valid is not sent again', async () => {
  const results = [
    { index: 0, success: true },
    { index: 1, success: false, code: 'invalid_event' },
  ];
  const { call, names } = openPage({ post: () => Promise.resolve(Response.json({ results }, { status: 207 })) });
  for (const name of ['One', 'Two']) call('track', name);
  await names();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await names()).toEqual(['One', 'Two']);
});

test('consent: a decision in a batch that is dropped is sent with the next batch', async () => {
  const answers = [403];
  const { call, names, sent } = openPage({
    purposes: { ads: true, analytics: true },
    post: () => Promise.resolve(Response.json({}, { status: answers.shift() ?? 200 })),
  });
  call('consent', { ads: false });
  expect(await names()).toEqual([]);
  call('track', 'After');
  expect(await names()).toEqual(['After']);
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: false } });
});

test('reset: waiting events keep their device, and the next person has another, for which decisions are recorded too', async () => {
  const jar = allowing();
  const { call, names, sent } = openPage({ jar, purposes: { ads: true, analytics: true } });
  call('identify', 'ada');
  await names();
  call('track', 'Signed Out');
  call('reset');
  expect([...jar.keys()]).toEqual(['sluice_consent']);
  call('track', 'Signed In');
  expect(await names()).toEqual(['$identify', 'Signed Out', 'Signed In']);
  const next = jar.get('sluice_visitor_id');
  expect(next).not.toBe('known');
  const consent = { ads: true };
  expect(sent.map(({ userId, externalId, userProperties }) => [userId, externalId, userProperties])).toEqual([
    ['known', 'ada', { consent }],
    ['known', 'ada', undefined],
    [next, undefined, { consent }],
  ]);
});

test('reset: the answer to an earlier batch stores nothing about the person who left', async () => {
  let answer: (response: Response) => void = () => undefined;
  const jar = allowing();
  const { call, names, sent } = openPage({ jar, post: () => new Promise((resolve) => (answer = resolve)) });
  call('identify', 'ada');
  await names();
  call('reset');
  answer(Response.json({}));
  await names();
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: true } });
  expect([...jar.keys()]).toEqual(['sluice_consent']);
});

test('reset: without consent, waiting events get a device id that is not stored', async () => {
  const jar = new Map<string, string>();
  const { call, names, sent } = openPage({ jar, purposes: { ads: false } });
  for (const name of ['One', 'Two']) call('track', name);
  call('reset');
  call('track', 'Other');
  expect([await names(), [...jar.keys()]]).toEqual([[], []]);
  call('consent', { ads: true });
  expect(await names()).toEqual(['One', 'Two', 'Other', '$identify']);
  const [one, two, other, last] = sent.map(({ userId }) => userId);
  expect([two === one, other === one, last === other]).toEqual([true, false, true]);
});

test('device: where the browser blocks cookies, the events of a page have one visitor until reset is called', async () => {
  const { call, names, sent } = openPage({ jar: null });
  for (const name of ['One', 'Two']) call('track', name);
  await names();
  call('track', 'Three');
  call('reset');
  call('track', 'Other');
  expect(await names()).toEqual(['One', 'Two', 'Three', 'Other']);
  const [one, two, three, other] = sent.map(({ userId }) => userId);
  expect([two === one, three === one, other === one]).toEqual([true, true, false]);
});

test('consent: a withdrawal in another tab also stops this tab, and a later decision here does not undo it', async () => {
  const jar = allowing();
  const [here, there] = [openPage({ jar }), openPage({ jar })];
  await here.names();
  there.call('consent', { ads: false });
  await there.names();
  here.call('track', 'After');
  here.call('consent', { other: true });
  expect(await here.names()).toEqual([]);
  expect(decodeURIComponent(jar.get('sluice_consent') ?? '')).toBe('{"ads":false,"other":true}');
  expect([...jar.keys()]).toEqual(['sluice_consent']);
});

test('retry: an event that is added while a batch is in flight does not shorten the wait for the next try', async () => {
  let tries = 0;
  const { call, names } = openPage({
    post: () => {
      tries += 1;
      call('track', `Event ${tries}`);
      return Promise.resolve(Response.json({}, { status: 503, headers: { 'retry-after': '60' } }));
    },
  });
  call('track', 'First');
  await names();
  await names();
  expect(tries).toBe(1);
});

test('consent: a decision that the browser does not store holds for its page', async () => {
  const jar = allowing();
  const set = jar.set.bind(jar);
  jar.set = (name, value) => (name === 'sluice_consent' ? jar : set(name, value));
  const { call, names } = openPage({ jar });
  await names();
  call('consent', { ads: false });
  call('track', 'After');
  expect(await names()).toEqual(['$identify']);
});

test('consent: a decision is sent even if so many events wait that its own is dropped', async () => {
  const answers = [503];
  const { call, names, sent } = openPage({
    purposes: { ads: true, analytics: true },
    post: () => Promise.resolve(Response.json({}, { status: answers.shift() ?? 200, headers: { 'retry-after': '5' } })),
  });
  call('consent', { ads: false });
  expect(await names()).toEqual([]);
  for (let n = 0; n < 500; n += 1) call('track', 'Seen');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(new Set(await names())).toEqual(new Set(['Seen']));
  expect(sent[0]?.userProperties).toEqual({ consent: { ads: false } });
});

test('consent: names of purposes ignore case and surrounding spaces, and a denial counts', async () => {
  const { call, names, sent } = openPage({ purposes: { 'Advertising ': true } });
  call('track', 'Before');
  await names();
  call('consent', { Advertising: false, ADVERTISING: true });
  call('track', 'After');
  expect(await names()).toEqual(['Before', '$identify']);
  expect(sent[1]?.userProperties).toEqual({ consent: { advertising: false } });
});

test.each([3_600_000, -10 * 86_400_000])(
  'page script: events of a browser whose clock is wrong by %d ms have the right time',
  async (clockMs) => {
    const startedMs = Date.now();
    const { call, names, sent } = openPage({ clockMs });
    call('track', 'Early');
    await names();
    call('track', 'Late');
    expect(await names()).toEqual(['Early', 'Late']);
    expect(sent.map(({ time }) => time - startedMs)).toEqual([0, 1_000]);
  },
);

test('page script: an error of the clock of less than two minutes is left', async () => {
  const startedMs = Date.now();
  const { call, names, sent } = openPage({ clockMs: -60_000 });
  call('track', 'Seen');
  await names();
  expect(sent[0]?.time).toBe(startedMs - 60_000);
});

test('tags: a tag that tracks a value that cannot be sent stops no event', async () => {
  const { call, names, page } = openPage({ hasTags: true });
  await names();
  const { track } = (page.sluice as unknown as { tags: { track(name: string, properties: object): void } }).tags;
  track('Tagged', { circular, big: 1n, good: 1 });
  call('track', 'After');
  expect(await names()).toEqual(['Tagged', 'After']);
});

test('tags: a page whose Trusted Types refuse the policy still sends its events', async () => {
  const createPolicy = (): never => {
    throw new TypeError('policy');
  };
  const { call, names, warnings } = openPage({ hasTags: true, platform: { trustedTypes: { createPolicy } } });
  call('track', 'Seen');
  expect(await names()).toEqual(['Seen']);
  expect(warnings.map(([, what]) => what)).toEqual(['tags']);
});

test('page script: each request with several events continues after the page has closed', async () => {
  const outliving: boolean[] = [];
  const { call, names } = openPage({
    post: (outlives) => {
      outliving.push(outlives);
      return Promise.resolve(Response.json({}));
    },
  });
  for (let n = 0; n < 20; n += 1) call('track', `Event ${n}`, { text: 'x'.repeat(3_000) });
  expect(await names()).toEqual(Array.from({ length: 20 }, (_, n) => `Event ${n}`));
  expect(outliving).not.toContain(false);
});
