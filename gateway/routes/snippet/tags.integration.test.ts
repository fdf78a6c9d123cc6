import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { chromium as playwright } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findBrowser } from '../../../shared/testing/browser-binary.ts';
import { readTagScript, readWebSnippet } from '../../../shared/web-snippet/web-snippet.ts';
import { startRouteRig } from '../../testing/route-rig.ts';
import type { RouteRig } from '../../testing/route-rig.ts';
import { testSources } from '../../testing/test-sources.ts';

let rig: RouteRig;
let site: Server;
let browser: Browser;
let shop: string;
/** The content security policy for pages served from now on; the argument is the gateway's address. */
let policy: (gateway: string) => string;

const key = testSources.web.token;
const settle = { timeout: 30_000, interval: 50 };
const own = { tagManagerId: 'manager' };

const trigger = (id: string, type: string, more: object = {}) => ({
  id,
  name: id,
  ...own,
  type,
  eventName: null,
  selector: null,
  threshold: null,
  intervalMs: null,
  limit: null,
  logic: null,
  ...more,
});
const variable = (name: string, type: string, value: string, defaultValue: string | null = null) => ({
  id: name,
  name,
  ...own,
  type,
  value,
  defaultValue,
});
const tag = (id: string, type: string, content: string, triggerId: string, more: object = {}) => ({
  id,
  name: id,
  ...own,
  type,
  status: 'Enabled',
  content,
  integrity: null,
  properties: [],
  priority: 0,
  triggerIds: [triggerId],
  blockingTriggerIds: [],
  purposeIds: [],
  fires: 'Always',
  ...more,
});
const is = (property: string, operator: string, value: unknown) => ({ condition: { property, operator, value } });

const collections = {
  consentSettings: [
    { id: 'analytics', name: 'analytics', isEnabled: true, defaultState: 'Granted', destinationIds: [], signals: null },
    { id: 'ads', name: 'Ads', isEnabled: true, defaultState: 'Denied', destinationIds: [], signals: null },
    ...['deny', 'always'].map((gpc) => ({
      id: gpc,
      name: gpc,
      isEnabled: true,
      defaultState: 'Granted',
      destinationIds: [],
      signals: { gpc },
    })),
  ],
  tagManagers: [{ id: 'manager', name: 'Shop', description: null, status: 'Enabled', sourceId: 'web' }],
  tagManagerVariables: [
    variable('Cart total', 'DataLayer', 'cart.total'),
    variable('Campaign', 'UrlParameter', 'utm_campaign', 'none'),
    variable('Kind', 'EventProperty', 'kind'),
    variable('Heading', 'Element', 'h1@text'),
    variable('Version', 'Script', 'Shop.version'),
    variable('Cookie', 'Cookie', 'tier'),
    variable('Path', 'UrlPart', 'path'),
  ],
  tagManagerTriggers: [
    trigger('view', 'PageView'),
    trigger('buy', 'Click', { selector: '.buy' }),
    trigger('broken', 'Click', { selector: '::' }),
    trigger('bought', 'CustomEvent', {
      eventName: 'Purchase',
      logic: { AND: [is('variables.Cart total', 'IsGreaterThan', 10), is('variables.Kind', 'Is', 'book')] },
    }),
    trigger('early', 'CustomEvent', { eventName: 'Early' }),
    trigger('pushed', 'CustomEvent', { eventName: 'Pushed' }),
    trigger('inside', 'PageView', { logic: is('variables.Campaign', 'Is', 'staff') }),
    trigger('seen', 'ScrollDepth', { threshold: 100 }),
    trigger('sent', 'FormSubmission', { selector: 'form' }),
    trigger('moved', 'HistoryChange'),
    trigger('twice', 'Timer', { intervalMs: 250, limit: 2 }),
  ],
  tagManagerTags: [
    tag('pixel', 'ImagePixel', 'https://pixel.test/view?c={{Campaign}}&h={{Heading}}', 'view', {
      blockingTriggerIds: ['inside'],
    }),
    tag('script', 'CustomScript', 'window.customRan = (window.customRan || 0) + 1', 'view'),
    tag('source', 'ScriptSource', 'https://scripts.test/vendor.js', 'view'),
    tag('ads', 'ImagePixel', 'https://pixel.test/ads', 'view', { purposeIds: ['ads'] }),
    ...['deny', 'always'].map((gpc) =>
      tag(gpc, 'ImagePixel', `https://pixel.test/${gpc}`, 'view', { purposeIds: [gpc] }),
    ),
    tag('never', 'ImagePixel', 'https://pixel.test/broken', 'broken'),
    tag('throws', 'CustomScript', 'throw new Error("of a tag")', 'buy', { priority: 5 }),
    tag('clicked', 'ImagePixel', 'https://pixel.test/click?v={{Version}}&t={{Cookie}}&p={{Path}}', 'buy', {
      fires: 'OncePerPage',
    }),
    tag('event', 'TrackEvent', 'Tag Bought', 'bought', {
      properties: [
        { name: 'total', value: '{{Cart total}}' },
        { name: 'text', value: 'kind {{Kind}}' },
      ],
    }),
    tag('pushes', 'CustomScript', 'dataLayer.push({ event: "Pushed" })', 'early'),
    ...['seen', 'sent', 'moved', 'pushed'].map((on) => tag(`on-${on}`, 'ImagePixel', `https://pixel.test/${on}`, on)),
    // A browser merges overlapping requests for one image, so this tag is a script that counts its runs.
    tag('on-twice', 'CustomScript', 'window.ticks = (window.ticks || 0) + 1', 'twice'),
    // A type of tag that only earlier builds had; its markup must not run.
    tag('markup', 'CustomHtml', '<b onclick="1">x</b>', 'view'),
  ],
};

const html = (gateway: string): string => `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
  <h1>Books &amp; more</h1><button class="buy"><i>Buy</i></button><form><button class="send">Send</button></form>
  <script nonce="n1" async src="${gateway}/sluice.js" data-key="${key}"></script>`;

beforeAll(async () => {
  rig = await startRouteRig();
  await rig.log.publishSources([testSources.web], collections);
  site = createServer((_request, response) => {
    const own = policy(rig.gateway.url);
    if (own !== '') response.setHeader('content-security-policy', own);
    response.setHeader('content-type', 'text/html').end(html(rig.gateway.url));
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  shop = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  browser = await playwright.launch({
    executablePath: await findBrowser(),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu'],
  });
  const settings = async (): Promise<object> =>
    (await (await fetch(`${rig.gateway.url}/sluice/settings/${key}`)).json()) as object;
  await vi.waitFor(async () => {
    if (!('tags' in (await settings()))) throw new Error('not published yet');
  }, settle);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  site?.close();
  await rig?.stop();
});

/** Opens a page under a policy. `asked`: the https URLs that the page requests; `said`: its console messages. */
async function visit(
  own: typeof policy,
  path = '/',
  prepare = '',
): Promise<{ page: Page; asked: string[]; said: string[] }> {
  policy = own;
  const context = await browser.newContext();
  const asked: string[] = [];
  await context.route(/^https:/, async (route) => {
    asked.push(decodeURIComponent(route.request().url()));
    if (route.request().resourceType() !== 'script')
      return route.fulfill({ status: 200, contentType: 'image/gif', body: '' });
    return route.fulfill({ contentType: 'text/javascript', body: 'window.vendorRan = true' });
  });
  await context.addInitScript(`window.Shop = { version: 7 };${prepare}`);
  await context.addCookies([{ name: 'tier', value: 'gold', url: shop }]);
  const page = await context.newPage();
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  await page.goto(`${shop}${path}`);
  return { page, asked, said };
}

const eventsNamed = async (name: string): Promise<readonly unknown[]> =>
  (await rig.log.envelopes()).filter(({ body }) => body.event === name).map(({ body }) => body.eventProperties);

const nothing = (): string => '';
const hosts = (gateway: string): string =>
  `default-src 'none'; script-src ${gateway} https://scripts.test; connect-src ${gateway}; img-src https://pixel.test data:`;
const nonce = (gateway: string): string =>
  `default-src 'none'; script-src 'nonce-n1'; connect-src ${gateway}; img-src https://pixel.test data:`;
const dynamic = (gateway: string): string =>
  `default-src 'none'; script-src 'nonce-n1' 'strict-dynamic'; connect-src ${gateway}; img-src https: data:`;
const trusted = (gateway: string): string =>
  `${nonce(gateway)}; require-trusted-types-for 'script'; trusted-types sluice`;

test.each([
  ['none', nothing, { custom: true, vendor: true }],
  ['hosts', hosts, { custom: false, vendor: true }],
  ['nonce', nonce, { custom: true, vendor: true }],
  ['strict-dynamic', dynamic, { custom: true, vendor: true }],
  ['trusted types', trusted, { custom: false, vendor: false }],
] as const)(
  'tags: pixels and events work under the policy %s, scripts as far as it lets them',
  async (name, own, ran) => {
    const { page, asked, said } = await visit(own, `/?utm_campaign=${encodeURIComponent(`${name} & co`)}`);
    await expect.poll(() => asked, settle).toContain(`https://pixel.test/view?c=${name} & co&h=Books & more`);
    const before = (await eventsNamed('Tag Bought')).length;
    await page.evaluate('dataLayer.push({ cart: { total: 12.5 } }); sluice("track", "Purchase", { kind: "book" })');
    await expect.poll(async () => (await eventsNamed('Tag Bought')).length, settle).toBe(before + 1);
    expect((await eventsNamed('Tag Bought')).at(-1)).toEqual({ total: 12.5, text: 'kind book' });
    if (ran.vendor) await expect.poll(() => page.evaluate('window.vendorRan'), settle).toBe(true);
    const ofScripts = await page.evaluate('[window.customRan === 1, window.vendorRan === true]');
    expect(ofScripts).toEqual([ran.custom, ran.vendor]);
    // The console names a tag that the policy blocks.
    expect(said.some((line) => line.includes('sluice: tag script'))).toBe(!ran.custom);
    await page.context().close();
  },
);

test('tags: Global Privacy Control denies a purpose until the visitor decides, or even then if the purpose is configured so', async () => {
  const on = 'Object.defineProperty(navigator, "globalPrivacyControl", { value: true })';
  const { page, asked } = await visit(nothing, '/', on);
  await expect.poll(() => asked.some((url) => url.startsWith('https://pixel.test/view')), settle).toBe(true);
  await page.evaluate('sluice("consent", { deny: true, always: true, ads: true })');
  await expect
    .poll(() => asked, settle)
    .toEqual(expect.arrayContaining(['deny', 'ads'].map((one) => `https://pixel.test/${one}`)));
  expect(asked).not.toContain('https://pixel.test/always');
  expect(asked.indexOf('https://pixel.test/deny')).toBeGreaterThan(asked.findIndex((url) => url.includes('/view')));
  await page.context().close();
  const { page: other, asked: off } = await visit(nothing);
  await expect
    .poll(() => off, settle)
    .toEqual(expect.arrayContaining(['deny', 'always'].map((one) => `https://pixel.test/${one}`)));
  await other.context().close();
});

test('tags: a tag of a purpose waits for the consent of the visitor', async () => {
  const { page, asked } = await visit(nothing);
  await expect.poll(() => asked, settle).toContain('https://pixel.test/view?c=none&h=Books & more');
  await page.evaluate('sluice("consent", { analytics: true })');
  await page.evaluate('sluice("consent", { ads: true })');
  await expect.poll(() => asked, settle).toContain('https://pixel.test/ads');
  expect(asked.indexOf('https://pixel.test/ads')).toBeGreaterThan(0);
  await page.reload();
  await expect.poll(() => asked.filter((url) => url === 'https://pixel.test/ads').length, settle).toBe(2);
  await page.context().close();
});

test('tags: triggers fire for clicks, forms and page changes that match, and a failing tag does not stop other tags', async () => {
  const { page, asked } = await visit(nothing, '/a?utm_campaign=staff');
  await expect.poll(() => asked, settle).toContain('https://scripts.test/vendor.js');
  await page.locator('.buy i').click();
  await page.locator('.buy').click();
  await page.evaluate('document.querySelector("form").addEventListener("submit", (event) => event.preventDefault())');
  await page.locator('.send').click();
  await page.evaluate('history.pushState(null, "", "/b")');
  const count = (url: string): number => asked.filter((one) => one === url).length;
  await expect.poll(() => page.evaluate('window.ticks'), settle).toBe(2);
  await expect
    .poll(() => asked, settle)
    .toEqual(expect.arrayContaining(['seen', 'sent', 'moved'].map((name) => `https://pixel.test/${name}`)));
  // The pixel is requested once per page, although there were two clicks. A tag never runs if its trigger has an
  // invalid selector.
  expect(count('https://pixel.test/click?v=7&t=gold&p=/a')).toBe(1);
  expect(asked.filter((url) => /broken|\/view/.test(url))).toEqual([]);
  expect(await page.evaluate('document.querySelectorAll("b").length')).toBe(0);
  await page.context().close();
});

test('tags: an event that a tag pushes while earlier pushes are replayed fires triggers', async () => {
  const { page, asked } = await visit(nothing, '/', 'window.dataLayer = [{ event: "Early" }, { event: "Other" }]');
  await expect.poll(() => asked, settle).toContain('https://pixel.test/view?c=none&h=Books & more');
  await expect.poll(() => asked, settle).toContain('https://pixel.test/pushed');
  await page.context().close();
});

test('tags: the tag script is small, and is loaded only where a container is published', async () => {
  const extra = gzipSync(readTagScript().script).length;
  expect(extra).toBeLessThan(2_816);
  expect(readTagScript().script + readWebSnippet().script).not.toMatch(
    /\beval\b|new Function|document\.write|innerHTML/,
  );
  const container = async (query: string) => {
    const answer = await fetch(`${rig.gateway.url}/sluice/container/${key}${query}`);
    return {
      status: answer.status,
      caching: answer.headers.get('cache-control'),
      body: (await answer.json()) as object,
    };
  };
  const answer = await fetch(`${rig.gateway.url}/sluice/settings/${key}`);
  // A page that is opened again from the browser's history would take the time and purposes of a stored answer.
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const settings = (await answer.json()) as { tags: { container: string } };
  expect(await container(`?v=${settings.tags.container}`)).toMatchObject({
    status: 200,
    caching: expect.stringContaining('immutable'),
  });
  expect(await container('?v=other')).toMatchObject({ caching: 'no-store' });
  expect(JSON.stringify((await container('')).body)).not.toContain('onclick');
  await rig.log.publishSources([testSources.web], { ...collections, tagManagers: [] });
  await expect.poll(async () => (await container('')).status, settle).toBe(404);
  const { page } = await visit(nothing);
  const loaded = await page.evaluate(
    'new Promise((done) => setTimeout(() => done([typeof sluice, document.scripts.length]), 1000))',
  );
  expect(loaded).toEqual(['function', 1]);
  await page.context().close();
});
