import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeStackFolder } from '../testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../testing/running-stack.ts';
import type { RunningStack } from '../testing/running-stack.ts';
import { createStackClient } from '../testing/stack-client.ts';
import type { StackClient } from '../testing/stack-client.ts';
import { startBrowser } from './testing/browser.ts';
import { awaitEvents } from './testing/delivered-events.ts';
import type { DeliveredEvent } from './testing/delivered-events.ts';
import { callAsLibrary } from './testing/specified-library.ts';

const settle = { timeout: 45_000, interval: 100 };

let folder: string;
let stack: RunningStack;
let client: StackClient;
let browser: Browser;

beforeAll(async () => {
  folder = await makeStackFolder();
  // A rate limit so low that one page exceeds its share of it, however slow the machine is.
  stack = await runStack(folder, await chooseStackPorts(), { RATE_LIMIT_EVENTS_PER_S: '1000' });
  browser = await startBrowser();
  client = createStackClient(stack.credentials);
}, 240_000);

afterAll(async () => {
  // `browser` and `stack` are undefined if their start failed.
  await browser?.close();
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** Opens the demo site for one visitor, whose name is in the page's address. */
async function visit(
  library: string,
  visitor: string,
  more = '',
  prepare = '',
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext();
  await context.addInitScript(prepare);
  const page = await context.newPage();
  // The fake clock runs by itself, and tests can move it forward.
  await page.clock.install();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.goto(`${stack.credentials.sink}/site?library=${library}&visitor=${visitor}${more}`);
  await page.getByText(`Ready: ${library}`).waitFor();
  return { page, problems };
}

const of = (visitor: string) => (event: DeliveredEvent) =>
  String(event.event.context['current_url']).includes(`visitor=${visitor}`);

const namesOf = (events: readonly DeliveredEvent[]): readonly string[] =>
  events.map(({ event }) => event.event).toSorted();

const press = (page: Page, call: string): Promise<void> => page.locator(`button[data-call=${call}]`).click();

const all = ['$identify', 'Order Completed', 'Page Viewed'];

test.each(['sluice', 'segment', 'rudderstack'])('browser: the calls of %s arrive as one visitor', async (library) => {
  const visitor = `calls-${library}`;
  // A different customer signs in with each library: the same customer in two libraries would be one visitor.
  const customer = `ada-${library}`;
  const { page, problems } = await visit(library, visitor, `&utm_source=news&customer=${customer}`);
  for (const call of ['track', 'identify', 'group', 'track']) await press(page, call);
  const names = library === 'sluice' ? all : [...all, '$group'];
  await awaitEvents(client, names, of(visitor));
  const orders = async (): Promise<number> =>
    (await awaitEvents(client, names, of(visitor))).filter(({ event }) => event.event === 'Order Completed').length;
  await expect.poll(orders, settle).toBe(2);
  const last = (await awaitEvents(client, names, of(visitor))).findLast(
    ({ event }) => event.event === 'Order Completed',
  );
  expect(last?.visitor).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', external_id: customer });
  expect(last?.event.event_properties).toMatchObject({ order_id: 'A-1001', total: 42.5, currency: 'EUR' });
  expect(last?.event.context).toMatchObject({ pathname: '/site', utm_source: 'news', title: 'Sluice demo shop' });
  expect(last?.event.context['user_agent']).toMatch(/^Mozilla\/5\.0 .*Chrom/);
  if (library !== 'sluice') {
    await page.evaluate('calls.alias()');
    const found = await awaitEvents(client, ['$alias'], of(visitor));
    const alias = found.find(({ event }) => event.event === '$alias');
    // Segment's browser library overrides the given id by that of the signed-in user.
    const id = library === 'segment' ? customer : `${customer}-new`;
    expect(alias?.event.event_properties).toEqual({ previous_id: customer, id });
    expect(alias?.visitor).toMatchObject({ first_name: 'Ada', external_id: id });
  }
  const events = await awaitEvents(client, names, of(visitor));
  expect(problems).toEqual([]);
  expect(new Set(events.map((event) => event.visitor.id)).size).toBe(1);
  await page.context().close();
});

// Wraps `fetch` as tracing libraries do.
const tracer = `
  const { fetch } = window;
  window.fetch = (address, init = {}) =>
    String(address).includes('/site/')
      ? fetch(address, init)
      : fetch(address, { ...init, headers: { ...init.headers, 'sentry-trace': '1-2', baggage: 'a=b', newrelic: 'x' } });`;

test.each(['sluice', 'segment'])('browser: %s sends from a page whose tracer adds headers', async (library) => {
  const { page, problems } = await visit(library, `traced-${library}`, '', tracer);
  await press(page, 'track');
  await awaitEvents(client, ['Order Completed', 'Page Viewed'], of(`traced-${library}`));
  expect(problems).toEqual([]);
  await page.context().close();
});

test('browser: the calls of posthog arrive as one visitor, and its request for flags is answered', async () => {
  const { page, problems } = await visit('posthog', 'calls-posthog', '&customer=ada-posthog');
  const flags = 'new Promise((resolve) => posthog.onFeatureFlags((names) => resolve(names)))';
  expect(await page.evaluate(flags)).toEqual([]);
  expect(await page.evaluate('posthog.isFeatureEnabled("new-shop") === true')).toBe(false);
  for (const call of ['track', 'identify', 'group', 'track']) await press(page, call);
  const ofVisitor = of('calls-posthog');
  const orders = async (): Promise<readonly DeliveredEvent[]> =>
    (await awaitEvents(client, [...all, '$group'], ofVisitor)).filter(({ event }) => event.event === 'Order Completed');
  await expect.poll(async () => (await orders()).length, settle).toBe(2);
  const last = (await orders()).at(-1);
  expect(last?.visitor).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', external_id: 'ada-posthog' });
  expect(last?.event.event_properties).toMatchObject({ order_id: 'A-1001', total: 42.5, currency: 'EUR' });
  expect(last?.event.context).toMatchObject({ pathname: '/site', library_name: 'web' });
  const events = await awaitEvents(client, all, ofVisitor);
  expect(new Set(events.map(({ visitor }) => visitor.id)).size).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test.each([
  ['sluice', ''],
  ['segment', '&batch'],
  ['rudderstack', '&beacon'],
  ['posthog', ''],
])('browser: a call made with %s just before the page navigates away arrives', async (library, more) => {
  const visitor = `leaving-${library}`;
  const { page } = await visit(library, visitor, more);
  // Our own script sends nothing until it has loaded the site's consent purposes.
  if (library === 'sluice') await awaitEvents(client, ['Page Viewed'], of(visitor));
  // Not awaited, because the call navigates away from the page that would answer.
  await page.evaluate('void Promise.resolve(calls.track()).then(() => { location.href = "about:blank" })');
  expect(namesOf(await awaitEvents(client, ['Order Completed'], of(visitor)))).toContain('Order Completed');
  await page.context().close();
});

test.each([
  ['sluice', '**/api/v1/batch'],
  ['segment', '**/v1/t'],
  ['rudderstack', '**/v1/track'],
])('browser: %s retries a request that got a 429, a 503 or no answer', async (library, address) => {
  const visitor = `retried-${library}`;
  const { page } = await visit(library, visitor);
  await awaitEvents(client, ['Page Viewed'], of(visitor));
  const answers = [429, 503, 0];
  const seen: number[] = [];
  await page.route(address, async (route) => {
    const status = answers[seen.length];
    seen.push(status ?? 200);
    if (status === undefined) return route.continue();
    if (status === 0) return route.abort('connectionreset');
    const headers = { 'access-control-allow-origin': '*', 'retry-after': '1' };
    return route.fulfill({ status, headers, body: '{}' });
  });
  await press(page, 'track');
  const turned = async (): Promise<number> => {
    // The library waits for seconds between two tries: the page's fake clock skips them.
    if (seen.length <= answers.length) await page.clock.runFor(500);
    return seen.length;
  };
  await expect.poll(turned, settle).toBe(answers.length + 1);
  const events = await awaitEvents(client, ['Order Completed'], of(visitor));
  expect(namesOf(events).filter((name) => name === 'Order Completed')).toHaveLength(1);
  expect(seen).toEqual([...answers, 200]);
  await page.context().close();
});

test.each(['segment', 'rudderstack'])('browser: %s sends batches', async (library) => {
  const visitor = `batched-${library}`;
  const { page, problems } = await visit(library, visitor, '&batch');
  for (const call of ['track', 'track']) await press(page, call);
  await awaitEvents(client, ['Order Completed', 'Page Viewed'], of(visitor));
  expect(problems).toEqual([]);
  await page.context().close();
});

test('browser: a page may call the API as the specified library does, and may read from the answer how long to wait', async () => {
  const { page, problems } = await visit('sluice', 'specified');
  const call = {
    baseUrl: `${stack.credentials.gateway}/api/v1`,
    path: '/track',
    body: {
      token: stack.credentials.webToken,
      event: 'From The Library',
      distinctId: null,
      defaultProperties: { current_url: 'http://shop.test/?visitor=specified' },
    },
    retriesMax: 2,
    runtime: 'browser:chrome',
  };
  expect(await page.evaluate(callAsLibrary, call)).toMatchObject({ status: 200, tries: 1 });
  await awaitEvents(client, ['From The Library'], of('specified'));
  expect(problems).toEqual([]);
  const source = await client.api('POST', 'sources', { type: 'WebSource', name: 'Of a loud page' });
  const { token } = await client.api('GET', `sources/${String(source['id'])}/tokens`);
  await client.publish('adds a source of its own');
  // The rate limit counts rows before they are validated as events.
  const rows = {
    ...call,
    path: '/batch',
    body: { token, events: Array.from({ length: 1_000 }, () => ({})) },
    retriesMax: 0,
  };
  const many = async (): Promise<readonly (string | null)[]> => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => page.evaluate(callAsLibrary, rows)));
    return answers.filter(({ status }) => status === 429).map(({ retryAfter }) => retryAfter);
  };
  await expect.poll(many, settle).toContain('1');
  await page.context().close();
});

test('browser: our own script counts marked elements and each page of an application', async () => {
  const { page, problems } = await visit('sluice', 'marked');
  await page.locator('button[data-sluice]').click();
  await page.evaluate('history.pushState({}, "", location.href + "&next")');
  const events = async (): Promise<readonly string[]> =>
    namesOf(await awaitEvents(client, ['Page Viewed', 'Brochure Opened'], of('marked')));
  await expect.poll(events, settle).toEqual(['Brochure Opened', 'Page Viewed', 'Page Viewed']);
  const found = await awaitEvents(client, ['Brochure Opened'], of('marked'));
  const brochure = found.find(({ event }) => event.event === 'Brochure Opened');
  expect(brochure?.event.event_properties).toEqual({ title: 'Spring' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('browser: without consent our own script sends nothing and stores no id; after consent all waiting events arrive', async () => {
  const { id } = await client.api('POST', 'collections/consentSettings', { name: 'analytics', defaultState: 'Denied' });
  await client.publish('asks for consent');
  const asked = async (): Promise<unknown> =>
    (await fetch(`${stack.credentials.gateway}/sluice/settings/${stack.credentials.webToken ?? ''}`)).json();
  await expect.poll(asked, settle).toMatchObject({ consent: [{ name: 'analytics', granted: false }] });
  const { page } = await visit('sluice', 'consenting');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.postData() ?? '');
  });
  await press(page, 'track');
  await page.clock.runFor(10_000);
  expect(sent).toEqual([]);
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
  await page.evaluate('sluice("consent", {analytics: true})');
  const events = await awaitEvents(client, ['Order Completed', 'Page Viewed'], of('consenting'));
  expect(events.at(-1)?.visitor).toMatchObject({ consent: { analytics: true } });
  await page.evaluate('sluice("consent", {analytics: false})');
  const withdrawn = async (): Promise<unknown> =>
    (await awaitEvents(client, ['$identify'], of('consenting'))).at(-1)?.visitor['consent'];
  await expect.poll(withdrawn, settle).toEqual({ analytics: false });
  // The browser reports its requests late.
  await expect.poll(() => sent.some((body) => body.includes('"analytics":false')), settle).toBe(true);
  const before = sent.length;
  await press(page, 'track');
  await page.clock.runFor(10_000);
  expect(sent).toHaveLength(before);
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['sluice_consent']);
  await page.context().close();
  await client.api('DELETE', `collections/consentSettings/${String(id)}`);
  await client.publish('asks no more');
});

test('browser: posthog gets a running experiment as a flag, and its exposure is counted once', async () => {
  await client.api('POST', 'collections/experimentSettings', {});
  const { id } = await client.api('POST', 'collections/experiments', { name: 'Checkout', key: 'checkout' });
  for (const name of ['Plain', 'Express']) {
    const variant = { experimentId: id, name, weight: 50, isControl: name === 'Plain' };
    await client.api('POST', 'collections/experimentVariants', variant);
  }
  await client.api('POST', `collections/experiments/${String(id)}/start`);
  await client.publish('starts an experiment');
  const assignment = async (visitorId: string): Promise<unknown> => {
    const answer = await fetch(`${stack.credentials.gateway}/api/v1/experiments/assignments/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: stack.credentials.webToken, visitor_id: visitorId, track_impression: false }),
    });
    const { variant_name: name } = (await answer.json()) as { readonly variant_name?: string };
    return name;
  };
  await expect.poll(() => assignment('probe'), settle).toMatch(/Plain|Express/);
  const { page, problems } = await visit('posthog', 'flagged-posthog');
  const asked = `new Promise((resolve) => posthog.onFeatureFlags(() => {
    const value = posthog.getFeatureFlag('checkout');
    resolve([value, posthog.getFeatureFlag('checkout'), posthog.get_distinct_id()]);
  }))`;
  const [value, again, visitorId] = await page.evaluate<readonly string[]>(asked);
  expect([value, again]).toEqual([await assignment(String(visitorId)), value]);
  const exposed = async (): Promise<number> => {
    // The library sends every few seconds.
    await page.clock.runFor(5_000);
    const { variants } = await client.api('GET', `experiments/${String(id)}/results`);
    return (variants as readonly { readonly visitors: number }[]).reduce((sum, { visitors }) => sum + visitors, 0);
  };
  await expect.poll(exposed, settle).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});
