// Large: a walk through the pages, which one browser and one stack serve.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeStackFolder } from '../../local/testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../../local/testing/running-stack.ts';
import type { RunningStack } from '../../local/testing/running-stack.ts';
import { callbackPath } from '../../../control-plane/single-sign-on/openid-login.ts';
import { startOpenIdProvider, testClient } from '../../../control-plane/single-sign-on/testing/openid-provider.ts';
import type { OpenIdProvider } from '../../../control-plane/single-sign-on/testing/openid-provider.ts';
import { fillAccount } from './testing/fill-account.ts';
import type { FilledAccount } from './testing/fill-account.ts';
import { assignVisitors } from './testing/fill-experiments.ts';
import { hostile } from './testing/hostile-texts.ts';
import { compiledPath } from '../../../shared/runtime/compiled-path.ts';
import { findBrowser } from '../../../shared/testing/browser-binary.ts';
import { findBarriers, openBrowser, openVisit } from './testing/open-browser.ts';
import type { Memory, Visit } from './testing/open-browser.ts';
import { countSteps, showsText, signIn, waitForText } from './testing/use-console.ts';

// Uses the console in a browser, with a whole stack. No page may log an error or send a request to another server.

let folder: string;
let stack: RunningStack;
let browser: Browser;
let provider: OpenIdProvider;
let account: FilledAccount;
let visit: Visit;
let signedIn: Memory;
let page: Page;

beforeAll(async () => {
  folder = await makeStackFolder();
  const ports = await chooseStackPorts();
  const consoleUrl = `http://127.0.0.1:${ports['CONTROL_PLANE_PORT']}`;
  provider = await startOpenIdProvider(`${consoleUrl}${callbackPath}`);
  const roles = [{ emailDomain: 'example.com', role: 'viewer' }];
  const singleSignOn = { ...testClient, issuer: provider.issuer, consoleUrl, scope: 'openid email', roles };
  const label = 'Example ID';
  stack = await runStack(folder, ports, {
    CONSOLE_SIGN_IN: JSON.stringify({ singleSignOn: { ...singleSignOn, label } }),
  });
  browser = await openBrowser(await findBrowser());
  account = await fillAccount(stack.credentials);
  const first = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await signIn(first.page, stack.credentials.apiKey);
  signedIn = await first.readMemory();
  await first.close();
}, 240_000);
afterAll(async () => {
  // The browser, the stack and the provider are undefined if their start failed.
  await browser?.close();
  await stack?.stop();
  await provider?.stop();
  await rm(folder, { recursive: true, force: true });
});
const begin = async (memory?: Memory): Promise<void> => {
  visit = await openVisit(browser, { baseUrl: stack.credentials.controlPlane, ...(memory && { memory }) });
  page = visit.page;
};
// Every test begins signed in; tests of signing in sign out first.
beforeEach(() => begin(signedIn));
afterEach(async () => {
  await visit.close();
  const { found } = visit.complaints;
  if (found.length > 0) throw new Error(`the page complained:\n${found.join('\n')}`);
});

const open = async (path: string, until: string): Promise<void> => {
  await page.goto(path);
  // Waits for the page itself, because the frame around it is shown earlier and may contain the same text.
  await page.locator('h1').waitFor();
  await waitForText(page, until);
};
/** The document's width in px: more than the window's if something sticks out. */
const widthPx = (): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
/** Starts again with a new window that is not signed in. */
const signOut = async (): Promise<void> => {
  await visit.close();
  await begin();
};
const press = (name: string, exact = false): Promise<void> => page.getByRole('button', { name, exact }).first().click();

const everyPage = (): readonly (readonly [path: string, until: string])[] => [
  ['/', 'Events in'],
  ['/?range=7d', 'The last 7 days'],
  ['/map', 'Warehouse loader'],
  ['/destinations', 'Warehouse loader'],
  ['/destinations/new', 'Needs'],
  [`/destinations/${account.healthyId}`, 'Why recent events'],
  [`/destinations/${account.refusingId}/delivery`, 'Rejected by the platform, or not sendable'],
  [`/destinations/${account.healthyId}/settings`, 'Save in the draft'],
  [`/destinations/${account.healthyId}/test`, 'Send'],
  [`/destinations/${account.healthyId}/dead-letters`, 'Replays'],
  [`/destinations/${account.healthyId}/nowhere`, 'This page does not exist.'],
  ['/events', 'Order Completed'],
  [`/events/${account.eventId}`, 'What the rules decide'],
  ['/visitors', 'Find'],
  [`/visitors/${account.visitorId}`, 'Merged from'],
  ['/audit', 'Who changed, published or read what'],
  ['/erasures', 'the state of the deletion at each destination'],
  ['/sources', 'Demo source'],
  ['/rules', 'Partner: no sign-ups'],
  [`/rules/mappings/${account.mappingId}?event=${account.eventId}`, 'This rule decides.'],
  [`/rules/new-mapping?destinationId=${account.healthyId}`, 'Without this mapping'],
  [`/rules/dispatch?event=${account.eventId}`, 'No mapping matches'],
  ['/rules/events', 'Every event goes to every destination'],
  [`/rules/new-event?event=${account.eventId}`, 'No mapping matches'],
  ['/rules/consent', 'advertising'],
  ['/rules/nowhere', 'This page does not exist.'],
  ['/rules/purposes/advertising', 'Signals of consent platforms'],
  ['/tracking-plan', '9999 9999'],
  ['/tracking-plan/quarantine', 'Payment Failed'],
  ['/tracking-plan/rules', 'Not in the plan'],
  ['/tracking-plan/nowhere', 'This page does not exist.'],
  ['/tracking-plan/new-event', 'Add a property'],
  ['/tracking-plan/personal-data', 'Redact it in the draft'],
  [`/tracking-plan/rules/${account.planRuleId}`, 'Save in the draft'],
  ['/events/held-event-0', 'No card numbers'],
  ['/experiments', 'Banner for free shipping'],
  [`/experiments/${account.experiments.measuredId}`, 'Above the control'],
  [`/sources/${account.sourceId}`, 'The whole guide'],
  ['/account', 'Blocked identifiers'],
  ['/users', 'No users yet'],
  ['/keys', 'Last used'],
  ['/draft', 'Draft'],
  ['/versions', 'Publication history'],
  [`/versions/${account.versionId}`, 'Created'],
  ['/system', 'Actors'],
  ['/system/runbook', 'The disk is full'],
  ['/system/runbook/the-disk-is-full', 'du -sh'],
  ['/system/runbook/SluiceIngestRefusing', 'What to look at'],
  ['/nowhere', 'Page not found'],
];

/** Ids of kinds that no label contains, such as `HTTPDestination`: pages must show the label instead. */
async function readKindIds(): Promise<readonly string[]> {
  const kinds = await Promise.all(
    ['destinations/types', 'sources/types'].map(async (path) => {
      const { entities } = await account.client.api('GET', path);
      return entities as readonly { readonly id: string; readonly label: string }[];
    }),
  );
  const all = kinds.flat();
  const labels = all.map(({ label }) => label);
  return all
    .map(({ id }) => id)
    .filter((id) => /[a-z][A-Z]|[A-Z]{2}/.test(id) && !labels.some((one) => one.includes(id)));
}

/** Number of tabs used in parallel: while one loads, another is examined. */
const tabs = 3;

test('every page: axe finds no barrier in light or dark, kinds have readable names, and at 360 px all fits and the menu opens', async () => {
  const nobody = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await nobody.page.goto('/');
  await waitForText(nobody.page, 'API key');
  expect(await findBarriers(nobody.page)).toEqual([]);
  await nobody.close();
  const waiting = [...everyPage()];
  const kindIds = new Set(await readKindIds());
  const examine = async (tab: Page): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [path, until] = next;
      await tab.setViewportSize({ width: 1280, height: 900 });
      await tab.goto(path);
      await tab.locator('h1').waitFor();
      await waitForText(tab, until);
      expect([path, 'light', await findBarriers(tab)]).toEqual([path, 'light', []]);
      const words = (await tab.locator('main').innerText()).split(/[^A-Za-z0-9_]+/);
      expect([path, words.filter((word) => kindIds.has(word))]).toEqual([path, []]);
      // The same page in other colours.
      await tab.emulateMedia({ colorScheme: 'dark' });
      expect([path, 'dark', await findBarriers(tab, 'coloured')]).toEqual([path, 'dark', []]);
      await tab.emulateMedia({ colorScheme: 'light' });
      await tab.setViewportSize({ width: 360, height: 780 });
      const widthOf = (): Promise<number> => tab.evaluate<number>('document.documentElement.scrollWidth');
      // Polled, because charts adapt to the window a moment later.
      await expect.poll(async () => [path, await widthOf()]).toEqual([path, 360]);
    }
  };
  await Promise.all(Array.from({ length: tabs }, async () => examine(await visit.openTab())));
  await page.setViewportSize({ width: 360, height: 780 });
  await open('/', 'Events in');
  await press('Menu');
  await page.getByRole('link', { name: 'Events' }).click();
  await waitForText(page, 'as they arrive');
}, 240_000);

test('console: the link printed at the start signs in once, and a command prints another link', async () => {
  await signOut();
  const link = /http:\S+\/sign-in#\w+/.exec(stack.output())?.[0] ?? '';
  await open(link, 'Events in');
  expect(page.url()).not.toContain('#');
  const another = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await another.page.goto(link);
  await waitForText(another.page, 'used already');
  const command = compiledPath(new URL('../../cli/sign-in-link/main.ts', import.meta.url));
  const env = { ...process.env, SLUICE_DIR: folder, DATABASE_URL: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [command], { env });
  await another.page.goto(stdout.trim());
  await waitForText(another.page, 'Events in');
  await another.close();
});

test('console: a key signs this browser in, across reloads and in new tabs, until the user signs out', async () => {
  await signOut();
  await page.goto('/');
  await page.getByLabel('API key').fill('slk_wrong');
  await press('Sign in', true);
  await waitForText(page, 'valid API key is required');
  await page.getByLabel('API key').fill(stack.credentials.apiKey);
  await press('Sign in', true);
  await waitForText(page, 'Events in');
  await page.reload();
  await waitForText(page, 'Events in');
  const tab = await visit.openTab();
  await tab.goto('/destinations');
  await waitForText(tab, 'Warehouse loader');
  await press('Sign out');
  await page.getByLabel('API key').waitFor();
  await tab.reload();
  expect(await showsText(tab, 'API key')).toBe(true);
});

test('console: once another tab signs in as another user, this tab does not act as that user, but shows it', async () => {
  await signOut();
  await signIn(page, stack.credentials.apiKey);
  const { key } = await account.client.api('POST', 'keys', { name: 'second tab', scopes: ['all'] });
  await open('/account', 'Blocked identifiers');
  const tab = await visit.openTab();
  await tab.goto('/');
  await tab.getByRole('button', { name: 'Other account' }).click();
  await tab.getByLabel('API key', { exact: true }).fill(String(key));
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.getByText('Key second tab').waitFor();
  const before = await account.client.api('GET', 'account');
  await page.getByLabel('External ids per visitor').fill('7');
  await press('Save');
  await page.getByText('Key second tab').waitFor();
  expect(await account.client.api('GET', 'account')).toEqual(before);
});

test('console: a sign-out that fails says so', async () => {
  await open('/', 'Events in');
  await page.route('**/rest/v1/session/*', (route) =>
    route.fulfill({ status: 429, json: { error: 'too many requests' } }),
  );
  await press('Sign out', true);
  expect(await showsText(page, 'Too many requests.')).toBe(true);
});

test('console: if a page cannot be loaded, as after an upgrade, a message says so, and a reload shows the page', async () => {
  // A visit of its own, because its errors are expected.
  const upgraded = await openVisit(browser, { baseUrl: stack.credentials.controlPlane, memory: signedIn });
  await upgraded.page.goto('/');
  await waitForText(upgraded.page, 'Events in');
  await upgraded.page.route('**/assets/audit-page-*.js', (route) => route.fulfill({ status: 404 }));
  await upgraded.page.getByRole('link', { name: 'Audit' }).click();
  await waitForText(upgraded.page, 'This page could not be loaded');
  expect(await findBarriers(upgraded.page)).toEqual([]);
  await upgraded.page.unroute('**/assets/audit-page-*.js');
  await upgraded.page.getByRole('button', { name: 'Reload' }).click();
  await waitForText(upgraded.page, 'Who changed, published or read what');
  await upgraded.close();
});

test('console: what a key may not do is not offered, and a page that needs another scope names it', async () => {
  await signOut();
  const { key } = await account.client.api('POST', 'keys', { name: 'looks only', scopes: ['destination:list'] });
  await signIn(page, String(key));
  await open('/events', 'lacks the scope event:list');
  expect(await page.getByRole('link', { name: 'Visitors' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Destinations' }).count()).toBe(1);
});

test('console: the next user of the same tab sees nothing that the last one could read', async () => {
  const { key } = await account.client.api('POST', 'keys', { name: 'reads less', scopes: ['destination:list'] });
  const enter = async (next: string): Promise<void> => {
    await page.getByLabel('API key', { exact: true }).fill(next);
    await press('Sign in', true);
  };
  const seesNoKeys = async (): Promise<void> => {
    await page.getByText('Key reads less').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await waitForText(page, 'lacks the scope key:list');
  };
  // A visit of its own session, because signing out ends the session of all tests.
  await signOut();
  await signIn(page, stack.credentials.apiKey);
  await open('/keys', 'Last used');
  await press('Sign out', true);
  await enter(String(key));
  await seesNoKeys();
  await press('Other account');
  await enter(stack.credentials.apiKey);
  await waitForText(page, 'Last used');
  await press('Other account');
  await enter(String(key));
  await seesNoKeys();
});

test('users: a person is invited with a role, signs in with the link, sees the work of the role, and is named in the audit trail', async () => {
  await open('/users', 'No users yet');
  await press('Invite a person');
  await page.getByLabel('E-mail').fill('vera@example.com');
  await page.getByLabel('Role').selectOption('editor');
  await waitForText(page, 'Does not publish');
  await waitForText(page, 'Sluice sends no e-mail');
  await press('Create invitation');
  const link = (await page.getByLabel('Sign-in link').last().textContent()) ?? '';
  const vera = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await vera.page.goto(link);
  await waitForText(vera.page, 'vera@example.com');
  for (const place of ['Rules', 'Experiments', 'Tracking plan', 'Destinations']) {
    expect([place, await vera.page.getByRole('link', { name: place, exact: true }).count()]).toEqual([place, 1]);
  }
  expect(await vera.page.getByRole('link', { name: 'Users' }).count()).toBe(0);
  await vera.page.goto(`/rules/mappings/${account.mappingId}?event=${account.eventId}`);
  await waitForText(vera.page, 'This rule decides');
  await open('/audit', 'session.create');
  await page.getByLabel('By', { exact: true }).selectOption({ label: 'vera@example.com' });
  await press('Filter');
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'vera@example.com' }).count()).toBeGreaterThan(0);
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'bootstrap' }).count()).toBe(0);
  await open('/users', '1 session');
  await press('End sessions');
  await page.getByRole('dialog').getByRole('button', { name: 'End sessions' }).click();
  await waitForText(page, '0 sessions');
  await vera.page.reload();
  await vera.page.getByLabel('API key').waitFor();
  await vera.close();
});

test('operator: the answer of a failing destination is one press away, and runbook commands are two from the System page', async () => {
  const steps = await countSteps(page);
  await open('/', 'Failing: ');
  await page.getByRole('region', { name: 'Problems' }).getByRole('link', { name: 'Loyalty programme' }).first().click();
  await waitForText(page, 'status 503');
  await waitForText(page, 'Concurrency');
  expect(await steps()).toEqual({ presses: 1, fields: 0 });
  await page.getByRole('link', { name: 'System' }).click();
  await waitForText(page, 'Doctor findings');
  await page.getByRole('link', { name: 'The runbook' }).click();
  // Names of alerts are long words, which must not be cut off.
  await page.getByRole('link', { name: 'SluiceDestinationAccessRefused' }).waitFor();
  const cut = "[...document.querySelectorAll('.choices a')].filter((one) => one.scrollWidth > one.clientWidth).length";
  expect(await page.evaluate<number>(cut)).toBe(0);
  await page.getByRole('link', { name: 'The disk is full' }).first().click();
  await waitForText(page, 'du -sh');
  expect(await steps()).toEqual({ presses: 4, fields: 0 });
});

test('overview: problems come first, and new events show by themselves', async () => {
  await open('/', 'Failing: ');
  const events = page.locator('.figures dd').first();
  const before = Number(await events.textContent());
  await account.client.track({ event: 'Order Completed', externalId: 'customer-live' });
  await expect.poll(async () => Number(await events.textContent())).toBeGreaterThan(before);
  await waitForText(page, 'invalid');
  // For rejected events the reason is shown, too.
  await waitForText(page, 'time lies outside the window');
  await page.getByRole('link', { name: '7 days' }).click();
  await waitForText(page, 'The last 7 days');
  await expect.poll(async () => Number(await events.textContent())).toBeGreaterThan(before);
});

test('overview: a destination that answers 503 has batches retrying, and one that delivers has none', async () => {
  await open('/', 'Batches retrying');
  const retrying = async (name: string): Promise<number> => {
    const cell = page.locator('tr', { hasText: name }).locator('td[data-title="Batches retrying"]');
    return Number(await cell.textContent());
  };
  await expect.poll(() => retrying('Loyalty programme')).toBeGreaterThan(0);
  expect(await retrying('Demo sink')).toBe(0);
});

test('overview: without problems it does not say that there are no failures and no backlog', async () => {
  const activity = (await account.client.api('GET', 'activity?range=15m&top=12')) as { readonly totals: object };
  const shown = { ...activity, problems: [], totals: { ...activity.totals, problems: 0 } };
  await page.route('**/rest/v1/activity/stream?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(shown)}\n\n` }),
  );
  await open('/', 'Batches retrying');
  expect(await page.locator('.note.good').innerText()).toBe('No problems found.');
});

test('overview: requests only the top 12, and shows kinds under their readable names', async () => {
  const [stream] = await Promise.all([
    page.waitForRequest('**/rest/v1/activity/stream?*'),
    open('/', 'HTTP Destination'),
  ]);
  expect(new URL(stream.url()).searchParams.get('top')).toBe('12');
  expect(await page.getByText('HTTPDestination', { exact: true }).count()).toBe(0);
});

test('overview: its chart is drawn in a browser with an unknown language, as one started with LANG=C', async () => {
  await page.addInitScript(
    "Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true })",
  );
  await open('/', 'at most in this range');
  await expect.poll(() => page.locator('canvas').count()).toBeGreaterThan(0);
});

test('search: a slash opens it, keys alone lead to configuration, pages, kinds, people, events and documentation', async () => {
  const combobox = page.getByRole('combobox', { name: 'Search everything' });
  const find = async (text: string, option: RegExp): Promise<void> => {
    await page.locator('h1').waitFor();
    await page.keyboard.press('/');
    await combobox.fill(text);
    const options = page.locator('dialog [role=option]');
    await options.filter({ hasText: option }).first().waitFor();
    await page.getByText(/^\d+ results?$/).waitFor();
    const all = await options.allTextContents();
    for (let n = all.findIndex((one) => option.test(one)); n > 0; n -= 1) await page.keyboard.press('ArrowDown');
    if (text === 'warehouse') expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Enter');
  };
  await open('/', 'Events in');
  await find('warehouse', /Warehouse loader.*Destination, HTTP Destination/);
  await page.waitForURL(`**/destinations/${account.healthyId}`);
  await find('sign-ups', /Partner: no sign-ups.*Mapping/);
  await page.waitForURL('**/rules/mappings/**');
  await find('twitter', /X Ads.*kind/);
  await page.waitForURL('**/destinations/new?kind=XAds');
  await find('system', /System.*Page/);
  await page.waitForURL('**/system');
  await find('customer-ada', /Visitor with the external id/);
  await page.waitForURL('**/visitors/*-*');
  await find(account.eventId, /Event with the id/);
  await page.waitForURL(`**/events/${account.eventId}`);
  await page.setViewportSize({ width: 390, height: 780 });
  await page.keyboard.press('/');
  await combobox.fill('order');
  await page.locator('dialog [role=option]').first().waitFor();
  expect(await widthPx()).toBe(390);
  await page.keyboard.press('Escape');
  await expect.poll(() => combobox.count()).toBe(0);
  // With a key that may list nothing, the search finds only pages.
  await signOut();
  const { key } = await account.client.api('POST', 'keys', { name: 'no lists', scopes: ['activity:find'] });
  await signIn(page, String(key));
  await page.locator('h1').waitFor();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search everything' }).fill('warehouse');
  await waitForText(page, 'Nothing matches.');
});

test('destinations: a kind is found by its common name, and a kind that is not offered says why', async () => {
  await open('/destinations/new', 'Needs');
  await page.getByLabel('Search').fill('twitter');
  await page.getByRole('link', { name: 'X Ads Conversions API' }).waitFor();
  expect(await page.locator('.choices li').count()).toBe(1);
  await page.getByLabel('Search').fill('bigquery');
  expect(await showsText(page, 'Google BigQuery warehouse')).toBe(true);
});

test('destinations: a destination is added, configured, tested, published, turned off and removed', async () => {
  await open('/destinations', 'Warehouse loader');
  await page.getByRole('link', { name: 'Add a destination' }).click();
  await page.getByLabel('Search').fill('http dest');
  await page.getByRole('link', { name: /HTTP Destination/ }).click();
  await page.getByLabel('Name').fill('Added by hand');
  await press('Add and continue');
  await page.getByRole('textbox', { name: /^URL/ }).fill('not an address');
  await press('Save in the draft');
  await waitForText(page, 'httpDestinationUrl');
  await page.getByRole('textbox', { name: /^URL/ }).fill(`${stack.credentials.sink}/by-hand`);
  await page.getByLabel('Signing secret').fill('a-very-long-secret');
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft');
  await page.reload();
  await waitForText(page, 'Signing secret');
  expect(await page.getByLabel('Signing secret').inputValue()).toBe('');
  await page.getByRole('link', { name: 'Test', exact: true }).click();
  await press('Send');
  await waitForText(page, 'Accepted by the platform');
  expect(await page.content()).not.toContain('a-very-long-secret');
  await press('Remove', true);
  await press('Remove from the draft');
  await page.waitForURL('**/destinations');
});

test('destinations: another change does not discard typed settings, and a form saves only the fields that were edited', async () => {
  const { client, sourceId } = account;
  const settings = { httpDestinationUrl: `${stack.credentials.sink}/stored`, method: 'POST' };
  const { id } = await client.api('POST', 'destinations', { name: 'As stored', type: 'HTTPDestination', settings });
  const read = (): Promise<unknown> => client.api('GET', `destinations/${String(id)}`);
  await open(`/destinations/${String(id)}/settings`, 'Signing secret');
  const url = page.getByRole('textbox', { name: /^URL/ });
  const general = page.getByRole('region', { name: 'Name and sources' });
  const typed = `${stack.credentials.sink}/typed`;
  await url.fill(typed);
  await general.getByLabel('Name').fill('Renamed by hand');
  await client.api('PATCH', `destinations/${String(id)}`, {
    limitedToSourceIds: [sourceId],
    settings: { method: 'PUT' },
  });
  await general.getByRole('button', { name: 'Save in the draft' }).click();
  await page.getByRole('heading', { name: 'Renamed by hand' }).waitFor();
  expect(await url.inputValue()).toBe(typed);
  await press('Disable');
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  expect(await url.inputValue()).toBe(typed);
  await press('Save in the draft');
  await waitForText(page, 'Takes effect when you publish');
  expect(await read()).toMatchObject({
    name: 'Renamed by hand',
    limitedToSourceIds: [sourceId],
    settings: { httpDestinationUrl: typed, method: 'PUT' },
  });
  // Typed while a save is under way.
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(`**/rest/v1/destinations/${String(id)}`, async (route) => {
    if (route.request().method() === 'PATCH') await answered;
    await route.continue();
  });
  const secret = page.getByLabel('Signing secret');
  await secret.fill('a secret of the test');
  await press('Save in the draft');
  await page.getByRole('button', { name: 'Saving …' }).waitFor();
  await url.fill(`${typed}/later`);
  answer();
  await expect.poll(() => secret.inputValue()).toBe('');
  expect(await url.inputValue()).toBe(`${typed}/later`);
  await client.api('DELETE', `destinations/${String(id)}`);
});

test('destinations: a source that was removed is deselected', async () => {
  const path = `destinations/${account.healthyId}`;
  const stored = await account.client.api('GET', path);
  await page.route(`**/rest/v1/${path}`, (route) =>
    route.fulfill({ json: { ...stored, limitedToSourceIds: ['gone'] } }),
  );
  await open(`/${path}/settings`, '1 source selected.');
  // Its box is gone once it is deselected.
  await page.getByLabel('gone (removed)').click();
  expect(await showsText(page, 'All sources. Select some')).toBe(true);
});

test("destinations: why events were rejected is shown by message, with the platform's answer on the dead letter and the event", async () => {
  await open(`/destinations/${account.refusingId}`, 'missing_click_id');
  await page.getByRole('link', { name: 'Dead letters with this message' }).first().click();
  await page.getByRole('link', { name: 'Show the response' }).first().click();
  await waitForText(page, 'Response of the platform');
  await waitForText(page, 'idempotency-key');
  expect(await findBarriers(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
  await open(`/events/${account.eventId}`, 'missing_click_id');
  await press('Show the response');
  await waitForText(page, 'Response of the platform');
});

test("delivery: it takes three steps to see whether last night's purchases reached the partner, and to see their events", async () => {
  const steps = await countSteps(page);
  await open('/', 'Events in');
  const follow = (name: string): Promise<void> => page.getByRole('link', { name, exact: true }).first().click();
  await follow('Partner postback');
  await follow('Delivery');
  const row = page.getByRole('row', { name: /^Order Completed/ });
  await row.waitFor();
  // The default range includes last night.
  const [, received = '', filtered, waiting, retrying, letters, delivered] = await row
    .getByRole('cell')
    .allTextContents();
  expect(Number(received)).toBeGreaterThan(0);
  expect([waiting, retrying]).toEqual(['0', '0']);
  expect(Number(filtered) + Number(letters) + Number(delivered)).toBe(Number(received));
  expect(Number(letters)).toBeGreaterThan(0);
  await waitForText(page, 'Rejected by the platform, or not sendable');
  await row
    .getByRole('link', { name: letters ?? '', exact: true })
    .first()
    .click();
  await waitForText(page, 'This view keeps events since');
  await waitForText(page, 'Dead letter:');
  expect(await page.getByLabel('Event name').inputValue()).toBe('Order Completed');
  expect(await steps()).toEqual({ presses: 3, fields: 0 });
  await page.goBack();
  await page.getByLabel('Received').selectOption('custom');
  await page.getByLabel('From').fill('2020-01-01T00:00');
  await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00');
  await waitForText(page, 'No events received in this range');
  // The field shows the time in the browser's format; below it, the console's format is shown.
  await page.locator('form time').getByText('1 Jan 2020, 00:00:00').waitFor();
  await open('/events?view=before&range=custom&from=2020-01-01T00:00', 'The event list starts at');
});

test('events: past events are filtered, counted, exported, saved as a view, and retried where they were rejected', async () => {
  const query = `destinationId=${account.refusingId}&outcome=rejected`;
  await open(`/events?view=before&${query}`, 'This view keeps events since');
  await page.getByLabel('Event name').fill('order comp');
  await waitForText(page, 'Dead letter:');
  await expect.poll(() => page.getByRole('link', { name: 'Page Viewed' }).count()).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  const downloaded = page.waitForEvent('download');
  await press('Export CSV');
  const file = await readFile(await (await downloaded).path(), 'utf8');
  expect(file).toMatch(/^eventId,event,time,/);
  expect(file).toMatch(/\r\ndemo-event-\d+,Order Completed,.*missing_click_id/);
  expect(file).not.toContain(account.healthyId);
  const downloadedJson = page.waitForEvent('download');
  await press('Export JSON');
  const exported = JSON.parse(await readFile(await (await downloadedJson).path(), 'utf8')) as {
    id: string;
    event: string;
  }[];
  const links = await page.getByRole('link', { name: 'Order Completed' }).all();
  const shown = await Promise.all(links.map(async (link) => (await link.getAttribute('href'))?.split('/').at(-1)));
  expect(shown.length).toBeGreaterThan(0);
  expect(exported.map(({ id }) => id)).toEqual(expect.arrayContaining(shown));
  expect(new Set(exported.map(({ event }) => event))).toEqual(new Set(['Order Completed']));
  await page.getByText('Partner postback: dead letter').first().waitFor();
  await press('Save this view');
  await page.getByLabel('Name of the view').fill('Orders at the partner');
  await press('Save', true);
  await page.getByRole('button', { name: 'Delete this view' }).waitFor();
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
  await page.setViewportSize({ width: 1280, height: 860 });
  await open('/events', 'Live');
  await page.getByLabel('Saved view').selectOption('Orders at the partner');
  await expect.poll(() => page.getByLabel('Event name').inputValue()).toBe('order comp');
  await press('Show past events');
  await page.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Retry 1 chosen event' }).waitFor();
  await page.getByLabel('Destination', { exact: true }).selectOption(account.healthyId);
  await page.getByLabel('Destination', { exact: true }).selectOption(account.refusingId);
  await page.getByRole('button', { name: 'Retry 0 chosen events' }).waitFor();
  await page.getByRole('checkbox').first().check();
  await press('Retry 1 chosen event');
  await waitForText(page, 'A replay was started');
});

test('events: a filter that is part of the address is typed into the middle of its text', async () => {
  await open('/events?view=before&name=ord+comp', 'This view keeps events since');
  const field = page.getByLabel('Event name');
  await field.press('End');
  for (let key = 0; key < ' comp'.length; key += 1) await field.press('ArrowLeft');
  await field.pressSequentially('er');
  expect(await field.inputValue()).toBe('order comp');
  await page.waitForURL('**name=order+comp*');
});

test('events: with more destinations than a list shows, a destination is found by a part of its name', async () => {
  const others = Array.from({ length: 100 }, (_, index) => ({
    id: `other-${index}`,
    name: `Other ${index}`,
    type: 'X',
  }));
  await page.route('**/rest/v1/destinations?limit=100', (route) =>
    route.fulfill({ json: { entities: others, pagination: { nextCursor: 'more', hasMore: true } } }),
  );
  await open('/events?view=before', 'This view keeps events since');
  await page.getByLabel('Search destinations').fill('PARTNER post');
  await page.getByLabel('Destination', { exact: true }).selectOption({ label: 'Partner postback' });
  await page.waitForURL(`**destinationId=${account.refusingId}*`);
  // A chosen destination stays in the list.
  await page.getByLabel('Search destinations').fill('');
  await page.getByRole('option', { name: 'Other 99', exact: true }).waitFor({ state: 'attached' });
  await expect
    .poll(() => page.getByLabel('Destination', { exact: true }).locator('option:checked').textContent())
    .toBe('Partner postback');
});

test('events: the log is searched for an order, with its outcome at each destination', async () => {
  await open('/events/search', 'Search by');
  await page.getByLabel('Value').fill('A-1002');
  await press('Search', true);
  await waitForText(page, 'all that the log has');
  await waitForText(page, 'missing_click_id');
  expect(await findBarriers(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
  await page.getByLabel('Value').fill('A-9');
  await press('Search', true);
  await waitForText(page, 'The log has no such event');
  const report = { status: 'running', error: null, phase: 'events', share: 0.5, messages: 2, found: 0 };
  await page.route('**/rest/v1/events/search?*', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `data: ${JSON.stringify({ ...report, isComplete: false, events: [] })}\n\n`,
    }),
  );
  await press('Search', true);
  await waitForText(page, 'The search ended before its result');
});

test('destinations: dead letters are replayed once the platform accepts them', async () => {
  await open(`/destinations/${account.refusingId}`, 'status 400');
  await account.client.setSink({ path: '/partner', status: 200 });
  await page.getByRole('link', { name: 'Dead letters and replays' }).click();
  await waitForText(page, 'Order Completed');
  await press('Replay dead letters');
  await page.getByText(/^All \d+ dead letters of this destination leave/).waitFor();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await waitForText(page, 'No dead letters');
  expect(await showsText(page, 'Done')).toBe(true);
});

test('events: new events appear without a reload, the list is filtered, and an event shows its path and what would be sent', async () => {
  await open('/events', 'Live');
  await account.client.track({ event: 'Seen Live', externalId: 'customer-live' });
  await waitForText(page, 'Seen Live');
  await page.getByLabel('Event name').fill('Signed Up');
  await expect.poll(() => page.getByRole('link', { name: 'Seen Live' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Signed Up' }).first().click();
  await waitForText(page, 'A mapping stops it.');
  await waitForText(page, 'Demo source');
  await press('Show the request');
  await waitForText(page, 'idempotency-key');
});

test('draft: shows changes field by field, reverts one, publishes, and rolls back to an earlier version', async () => {
  await open('/draft', 'Warehouse loader, EU');
  await waitForText(page, 'Last changed by');
  await press('Try on recent events');
  await waitForText(page, 'recent events');
  await page.getByLabel('Next quarter').getByRole('button', { name: 'Revert' }).click();
  await page.getByLabel('Name').fill('Renamed by hand');
  await page.getByRole('button', { name: /Publish 1 change/ }).click();
  await waitForText(page, 'is live');
  await page.getByRole('link', { name: 'Versions', exact: true }).click();
  await waitForText(page, 'Renamed by hand');
  await page.getByRole('link', { name: 'Four destinations' }).first().click();
  await press('Roll back to this version');
  expect(await page.getByLabel('Also revert these changes in the draft').isChecked()).toBe(true);
  await press('Roll back', true);
  expect(await showsText(page, 'None: this is the live version.')).toBe(true);
  await waitForText(page, '1 change reverted in the draft');
  await open('/versions', 'Publication history');
  expect(await page.getByRole('group', { name: 'Publications' }).getByText('Renamed by hand').count()).toBe(1);
});

test('engineer: an event is sent under another name with a property of its own, published, and rolled back', async () => {
  const steps = await countSteps(page);
  await open('/rules', 'Partner: no sign-ups');
  await page.getByRole('link', { name: 'Add a mapping' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Orders as purchases');
  await page.getByLabel('Destination', { exact: true }).selectOption(account.healthyId);
  await press('Only matching events');
  await page.getByLabel('Value', { exact: true }).fill('Order Completed');
  await page.getByLabel('Sent as', { exact: true }).fill('purchase');
  await press('Add a property');
  await page.getByLabel('Property at the destination').fill('items');
  await page.getByLabel('Template').fill('{{event.event_properties.order_id}}');
  await press('Save in the draft');
  await page.getByRole('link', { name: 'View the draft' }).click();
  await waitForText(page, 'Orders as purchases');
  await page.getByRole('button', { name: /^Publish \d+ change/ }).click();
  await waitForText(page, 'is live');
  await page.getByRole('link', { name: 'Versions', exact: true }).click();
  await page.getByRole('link', { name: 'Four destinations' }).first().click();
  await press('Roll back to this version');
  await press('Roll back', true);
  await waitForText(page, 'None: this is the live version.');
  const { presses, fields } = await steps();
  expect([presses <= 10, fields], `${presses} presses`).toEqual([true, 6]);
});

test('draft: where the account requires it, a version is published once another key has approved it', async () => {
  const { client } = account;
  const { id } = await client.api('POST', 'destinations', {
    type: 'HTTPDestination',
    name: 'To be approved',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/approved` },
  });
  const { key } = await client.api('POST', 'keys', { name: 'Reviewer', scopes: ['all'] });
  await open('/account', 'Publishing');
  const setting = page.getByLabel('Versions need the approval of a second user');
  await setting.check();
  await page.getByRole('region', { name: 'Publishing' }).getByRole('button', { name: 'Apply' }).click();
  await waitForText(page, 'Applied.');
  await open('/draft', 'Request approval of');
  await page.getByLabel('Name').fill('With a second look');
  await press('Request approval of');
  await waitForText(page, 'Waiting for approval');
  const path = new URL(page.url()).pathname;
  expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
  const reviewer = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await signIn(reviewer.page, String(key));
  await reviewer.page.goto(path);
  await reviewer.page.getByRole('button', { name: 'Approve', exact: true }).click();
  await reviewer.page.getByText('Approved', { exact: true }).waitFor();
  await waitForText(reviewer.page, 'Sluice cannot verify that a second person approved this');
  await reviewer.close();
  await page.reload();
  await press('Publish this version');
  await press('Publish', true);
  await waitForText(page, 'is live.');
  await client.api('PATCH', 'account', { requiresApproval: false });
  await client.api('DELETE', `destinations/${String(id)}`);
});

test('draft: events that wait for a disabled destination are shown, and are left unsent only after a confirmation', async () => {
  await open(`/destinations/${account.failingId}`, 'Delivery');
  await waitForText(page, 'Concurrency');
  await page.getByText('Live', { exact: true }).waitFor();
  await press('Disable');
  await waitForText(page, 'Disabled in the draft');
  // The destination stays live until the draft is published.
  expect(await page.getByText('Live', { exact: true }).count()).toBe(1);
  await open('/draft', 'is disabled');
  const publish = page.getByRole('button', { name: /^Publish \d+ change/ });
  await waitForText(page, 'Waiting events are not sent');
  expect(await publish.isDisabled()).toBe(true);
  await page.getByLabel('Publish without sending them').check();
  await publish.click();
  await waitForText(page, 'waiting events were not sent');
  await waitForText(page, '1 of 1 run it');
  await page.getByRole('link', { name: 'Replay once it is live again' }).click();
  await press('Replay a time range');
  expect(await page.getByLabel('From').inputValue()).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test('replays: a running replay shows its progress, and is cancelled', async () => {
  const replay = {
    id: 'made-up',
    destinationId: account.healthyId,
    what: 'log',
    reason: null,
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-02T00:00:00.000Z',
    status: 'running',
    createdAt: '2026-01-03T00:00:00.000Z',
    updatedAt: '2026-01-03T00:00:00.000Z',
    scanned: 40,
    queued: 4,
    share: 0.4,
  };
  let status = 'running';
  await page.route('**/replays', (route) =>
    route.fulfill({ json: { entities: [{ ...replay, status }], pagination: { nextCursor: null, hasMore: false } } }),
  );
  await page.route('**/replays/made-up/cancel', (route) => {
    status = 'cancelled';
    return route.fulfill({ json: { ...replay, status } });
  });
  await open(`/destinations/${account.healthyId}/dead-letters`, 'Running');
  expect(await page.getByRole('progressbar').getAttribute('value')).toBe('0.4');
  await press('Cancel');
  await waitForText(page, 'Cancelled');
});

test('replays: a range of a link is replayed as it is, also in the hour that occurs twice', async () => {
  const range = { from: '2026-10-25T00:50:00.000Z', to: '2026-10-25T01:05:00.000Z' };
  const asked: unknown[] = [];
  await page.route('**/replay', (route) => {
    asked.push(route.request().postDataJSON());
    return route.fulfill({ json: {} });
  });
  const query = new URLSearchParams({ from: range.from, until: range.to });
  await open(`/destinations/${account.healthyId}/dead-letters?${query.toString()}`, 'Replays');
  const replay = async (): Promise<void> => {
    await press('Replay', true);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await press('Replay a time range');
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toMatch(/^2026-10-25T02:50/);
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toMatch(/^2026-10-25T02:05/);
  await replay();
  await press('Replay a time range');
  await page.getByLabel('From').fill('2026-10-25T01:30:00');
  await replay();
  expect(asked).toEqual([
    { what: 'log', ...range },
    { what: 'log', from: '2026-10-24T23:30:00.000Z', to: range.to },
  ]);
});

test('events: an event lists the destinations where it has no outcome, with the reason for each', async () => {
  const { id } = await account.client.api('POST', 'destinations', {
    name: 'Slow partner',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/slow`, method: 'POST' },
  });
  await account.client.publish('Slow partner');
  await account.client.setSink({ path: '/slow', hang: true });
  await account.client.track({ event: 'Seen Nowhere', externalId: 'customer-slow', distinctId: 'slow-event' });
  const ways = async (): Promise<string> => {
    const answer = await account.client.api('GET', 'events/slow-event/ways').catch(() => undefined);
    return JSON.stringify(answer ?? '');
  };
  await expect.poll(ways, { timeout: 30_000 }).toContain(String(id));
  await open('/events/slow-event', 'Slow partner');
  await waitForText(page, 'No outcome yet');
  await account.client.setSink({ path: '/slow', status: 200 });
});

test('system: shows what each thread runs and what the runbook says; a key of a single account cannot see the page', async () => {
  await open('/system', 'Actors');
  await page.getByLabel('Search').fill('warehouse');
  await page.getByRole('link', { name: 'Warehouse loader' }).waitFor();
  await waitForText(page, 'Alerts are not connected');
  await page.getByRole('link', { name: 'The runbook' }).click();
  await page.getByRole('link', { name: /SluiceGatewayNotReady/ }).click();
  await waitForText(page, 'What to look at');
  const { key } = await account.client.api('POST', 'keys', { name: 'of one account', scopes: ['all'] });
  const other = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
  await signIn(other.page, String(key));
  expect(await other.page.getByRole('link', { name: 'System' }).count()).toBe(0);
  await other.page.goto('/system');
  await waitForText(other.page, 'lacks the scope system:find');
  await other.close();
});

test('developer: a source is added and published; its page gives a command, and shows the first event that the command sends', async () => {
  const steps = await countSteps(page);
  await open('/sources', 'Demo source');
  await press('Add a source');
  await page.getByLabel('Name').fill('Shop backend');
  await page.getByLabel('Kind').selectOption('HTTPApiSource');
  await press('Add to the draft');
  await waitForText(page, 'does not accept events yet');
  const path = new URL(page.url()).pathname;
  await page
    .getByText('Review and publish the draft')
    .or(page.getByText(/^Publish 1 change/))
    .first()
    .click();
  if (new URL(page.url()).pathname !== path) {
    await press('Publish');
    await waitForText(page, 'The draft matches the live version');
    await page.goto(path);
  }
  await waitForText(page, 'Waiting for the first event');
  // A request that is refused is not an event.
  const sourceId = path.split('/').at(-1) ?? '';
  const { token } = await account.client.api('GET', `sources/${sourceId}/tokens`);
  await account.client.track({ token: String(token), event: 'Imported', externalId: 'customer-ada', time: 1 });
  await waitForText(page, 'A request arrived');
  await page.getByRole('status').getByText('time lies outside the window').waitFor();
  expect(await page.getByText('Your first event arrived').count()).toBe(0);
  await promisify(execFile)('sh', ['-c', await page.getByLabel('In a shell', { exact: true }).innerText()]);
  await waitForText(page, 'Your first event arrived');
  await page.getByRole('link', { name: 'Order Completed' }).click();
  expect(await showsText(page, 'What the rules decide')).toBe(true);
  const { presses, fields } = await steps();
  expect([presses <= 5, fields], `${presses} presses`).toEqual([true, 2]);
  await open('/sources', 'Check a key');
  await page.getByLabel('Key of a source').fill('src_live_unknown');
  await press('Check');
  await waitForText(page, 'No source of this account has or had this key.');
});

test('sources: a webhook shows its address and the steps of its provider, and keeps the secret of its signature', async () => {
  const { client } = account;
  const { id } = await client.api('POST', 'sources', { type: 'TypeformWebhooks', name: 'Survey' });
  // As for a page without TLS.
  await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await open(`/sources/${String(id)}`, '/webhook/src_live_');
  await press('Copy', true);
  await waitForText(page, 'Selected: copy it');
  expect(await page.evaluate<string>('getSelection().toString()')).toContain('/webhook/src_live_');
  await waitForText(page, 'Connect, Webhooks, Add a webhook');
  await page.getByLabel('Secret (signs the requests)').fill('s3cret-of-typeform');
  await press('Save in the draft');
  await waitForText(page, 'Set. It takes effect when you publish.');
  expect((await client.api('GET', `sources/${String(id)}`))['signingSecret']).not.toBeNull();
});

test('visitors: a merge is shown with its cause, and split after a confirmation; consent is shown', async () => {
  const { client } = account;
  const idOf = async (externalId: string): Promise<string | undefined> => {
    const { entities } = await client.api('GET', `visitors?externalId=${externalId}`);
    return (entities as readonly { readonly id: string }[])[0]?.id;
  };
  const [ada, grace] = [await idOf('customer-ada'), await idOf('customer-grace')];
  await client.api('POST', `visitors/${ada}/merge`, { visitorId: grace });
  await open(`/visitors/${ada}`, 'a request to the API');
  await waitForText(page, 'allowed');
  await press('Split');
  await waitForText(page, 'becomes a separate visitor again');
  await page.getByRole('dialog').getByRole('button', { name: 'Split' }).click();
  await page.getByText('Undone', { exact: true }).waitFor();
  expect(await idOf('customer-grace')).not.toBe(await idOf('customer-ada'));
});

test('sources: a web source is given a secret for signed identifiers, and shows which identity data was not stored', async () => {
  const { client } = account;
  const { id } = await client.api('POST', 'sources', { type: 'WebSource', name: 'Signed shop' });
  await open(`/sources/${String(id)}`, 'Signed identifiers');
  await waitForText(page, 'Identity data not stored, last 7 days');
  await press('Create a secret');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a secret' }).click();
  await waitForText(page, 'src_secret_');
  expect((await client.api('GET', `sources/${String(id)}/tokens`))['secret']).toMatch(/^src_secret_/);
});

test('privacy: a person is found by e-mail and erased after a typed confirmation, and the certificate is downloaded', async () => {
  const steps = await countSteps(page);
  await open('/visitors', 'Find');
  await page.getByLabel('Identifier').selectOption('email');
  await page.getByLabel('Value').fill('Radia@Example.com');
  await press('Find');
  await waitForText(page, 'customer-radia');
  await press('Erase');
  const erase = page.getByRole('button', { name: 'Erase permanently' });
  expect(await erase.isDisabled()).toBe(true);
  await page.getByLabel('Type erase to confirm').fill('erase');
  await erase.click();
  await page.waitForURL('**/erasures/*');
  await waitForText(page, 'The visitor was erased.');
  await waitForText(page, 'Due everywhere');
  await page.getByRole('row', { name: /Warehouse loader.*HTTP Destination/ }).waitFor();
  const downloaded = page.waitForEvent('download');
  await press('Download certificate');
  const certificate = await readFile(await (await downloaded).path(), 'utf8');
  expect(certificate).toContain('signature');
  expect(certificate).not.toContain('radia@example.com');
  expect(await steps()).toEqual({ presses: 4, fields: 3 });
  await open('/visitors', 'Find');
  await page.getByLabel('Value').fill('tony@example.com');
  await press('Find');
  await press('Search by e-mail address');
  await waitForText(page, 'customer-tony');
  await open('/visitors', 'Find');
  await page.getByLabel('Identifier').selectOption('email');
  await page.getByLabel('Value').fill('radia@example.com');
  await press('Find');
  await waitForText(page, 'No visitor found');
  await waitForText(page, 'Erased visitors cannot be found by an identifier');
});

test('account: identity settings are shown and changed, and are live at once', async () => {
  await open('/account', 'Blocked identifiers');
  await page.getByLabel('Blocked identifiers').fill('house account\n\nwalk-in');
  await page.getByLabel('External ids per visitor').fill('2');
  await press('Save');
  await waitForText(page, 'Saved and live.');
  await page.getByLabel('External ids per visitor').fill('3');
  await expect.poll(() => page.getByText('Saved and live.').count()).toBe(0);
  await page.getByLabel('External ids per visitor').fill('2');
  await open('/account', 'Blocked identifiers');
  expect(await page.getByLabel('Blocked identifiers').inputValue()).toBe('house account\nwalk-in');
  expect(await page.getByLabel('External ids per visitor').inputValue()).toBe('2');
});

test('account: a form opens with the stored settings, even if this tab remembers others', async () => {
  const emails = page.getByLabel('E-mail addresses per visitor');
  await open('/account', 'Blocked identifiers');
  await emails.fill('20');
  await press('Save');
  await waitForText(page, 'Saved and live.');
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await waitForText(page, 'Who changed, published or read what');
  await account.client.api('PATCH', 'account', { identity: { emailsMax: 30 } });
  await page.getByRole('link', { name: 'Account', exact: true }).click();
  expect(await emails.inputValue()).toBe('30');
  await account.client.api('PATCH', 'account', { identity: { userIdsMax: 40 } });
  await emails.fill('50');
  await press('Save');
  await waitForText(page, 'Saved and live.');
  const { identity } = await account.client.api('GET', 'account');
  expect(identity).toMatchObject({ emailsMax: 50, userIdsMax: 40 });
});

test('keys: a key is created, shown once, and revoked', async () => {
  await open('/keys', 'bootstrap');
  await press('Create a key');
  await page.getByText(/^\d+ scopes$/).waitFor();
  // Untouched, the form asks nothing.
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await waitForText(page, 'Who changed, published or read what');
  await open('/keys', 'bootstrap');
  await press('Create a key');
  await page.getByLabel('Name').fill('Night shift');
  await press('Create', true);
  expect(await showsText(page, 'slk_')).toBe(true);
  await page
    .getByRole('row', { name: /Night shift/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await press('Revoke now');
  await page
    .getByRole('row', { name: /Night shift/ })
    .getByText('Revoked')
    .waitFor();
});

test('rules: a mapping’s page shows how each standard event is sent if no mapping applies', async () => {
  // Waits for the preview, which would otherwise appear above the button and move it.
  await open(`/rules/mappings/${account.mappingId}`, 'With this mapping');
  await page.getByText('How each standard event is sent').click();
  await press('Order Refunded');
  await expect.poll(() => page.locator('main').innerText()).toContain('"event": "Order Refunded"');
});

test('rules: a mapping is tried on an event while being edited, by conditions and as JSON, and saved in the draft', async () => {
  await open(`/rules/new-mapping?event=${account.eventId}`, 'Preview');
  const field = (label: string, place = 0) => page.getByLabel(label, { exact: true }).nth(place);
  await field('Name').fill('Purchases by hand');
  await field('Priority').fill('');
  await field('Priority').pressSequentially('-5');
  expect(await field('Priority').inputValue()).toBe('-5');
  await field('Destination').selectOption(account.healthyId);
  await waitForText(page, 'This rule decides.');
  await waitForText(page, 'Applies to');
  await press('Only matching events');
  await field('Value').fill('Signed Up');
  await waitForText(page, 'No mapping matches');
  await page.getByRole('button', { name: 'Not', exact: true }).click();
  await waitForText(page, 'This rule decides.');
  await press('Remove NOT');
  await field('Value').fill('Order Completed');
  await press('Add a condition');
  await field('Property', 1).fill('event.event_properties.total');
  await field('Operator', 1).selectOption('IsGreaterThan');
  await field('Value', 1).fill('many');
  await waitForText(page, 'must be a number');
  await field('Value', 1).fill('5');
  await field('Sent as').fill('purchase');
  await press('Add a property');
  await field('Property at the destination').fill('email');
  await field('Template').fill('{{event.event_propertys.total}}');
  await waitForText(page, 'Did you mean event.event_properties.total?');
  await field('Template').fill('{{visitor.email');
  await waitForText(page, 'is not closed');
  await field('Template').fill('{{visitor.email}}');
  await press('Modification: None');
  await page.getByLabel('Search modifications').fill('normalized');
  await page.getByRole('button', { name: /^HashedNormalized / }).click();
  const hash = createHash('sha256').update('edsger@example.com').digest('hex');
  await page.getByLabel('With this mapping', { exact: true }).getByText(hash).waitFor();
  expect(await page.getByLabel('Without this mapping', { exact: true }).getByText(hash).count()).toBe(0);
  await page.getByLabel('Send only the properties listed above').check();
  await waitForText(page, 'Left out of the previewed event: ');
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'Destinations', exact: true }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await press('Stay');
  await press('Sign out', true);
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await press('Stay');
  expect(await field('Name').inputValue()).toBe('Purchases by hand');
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft.');
  await press('Edit as JSON');
  const json = await field('As JSON').inputValue();
  expect(JSON.parse(json)).toEqual({
    AND: [
      { condition: { property: 'event.event', operator: 'Is', value: 'Order Completed' } },
      { condition: { property: 'event.event_properties.total', operator: 'IsGreaterThan', value: '5' } },
    ],
  });
  await field('As JSON').fill('{"AND": []}');
  await waitForText(page, 'exactly one of condition');
  await field('As JSON').fill(json.replace('"Is"', '"IsNot"'));
  await waitForText(page, 'No mapping matches');
  const tab = await visit.openTab();
  await tab.goto('/account');
  await tab.getByLabel('Blocked identifiers').fill('test-user');
  const asked = tab.waitForEvent('dialog');
  await tab.close({ runBeforeUnload: true });
  expect((await asked).type()).toBe('beforeunload');
  await (await asked).accept();
  await field('As JSON').fill('null');
  await press('Save in the draft');
  await page.getByRole('dialog', { name: 'Apply it to every event?' }).waitFor();
  await press('Keep editing');
  expect(await page.getByText('Saved in the draft.').count()).toBe(0);
  await page.getByRole('link', { name: 'Destinations', exact: true }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await press('Stay');
  await page.getByLabel('Only events whose name contains').fill('signed');
  await expect
    .poll(() => page.getByLabel('Try it on').locator('option:checked').textContent())
    .toContain('Signed Up, ');
  await press('Remove', true);
  await press('Remove from the draft');
  await page.waitForURL('**/rules');
});

test('rules: a rule that was changed elsewhere opens with its stored fields, and a form saves only the fields that were edited', async () => {
  const { client } = account;
  const rule = { name: 'As stored', destinationId: account.healthyId, action: 'stop', mappings: [], isEnabled: false };
  const { id } = await client.api('POST', 'collections/mappings', rule);
  const path = `collections/mappings/${String(id)}`;
  const name = page.getByLabel('Name', { exact: true });
  const nameStored = async (): Promise<unknown> => (await client.api('GET', path))['name'];
  await open('/rules', 'As stored');
  await page.getByRole('link', { name: 'As stored' }).click();
  await name.fill('Edited');
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft.');
  await page.getByRole('link', { name: '← Rules' }).click();
  // Undone on another page or by a colleague, while this tab remembers the edited rule.
  await client.api('PATCH', path, { name: 'As stored' });
  await page.getByRole('link', { name: /^(Edited|As stored)$/ }).click();
  expect(await name.inputValue()).toBe('As stored');
  await client.api('PATCH', path, { priority: 7 });
  await name.fill('Edited again');
  await press('Save in the draft');
  await expect.poll(nameStored).toBe('Edited again');
  expect(await client.api('GET', path)).toMatchObject({ priority: 7 });
  // Compared with the fields saved last, not with those that the form began with.
  await name.fill('As stored');
  await press('Save in the draft');
  await expect.poll(nameStored).toBe('As stored');
  await client.api('DELETE', path);
});

test('rules: after a dispatch rule is removed, the next one is not edited with its JSON', async () => {
  await open('/rules/dispatch', 'Rule name');
  await press('Add a rule');
  await page.getByLabel('Rule name').nth(1).fill('Next rule');
  const next = page.getByRole('region', { name: 'Next rule' });
  const first = page.getByRole('region', { name: 'Own staff' });
  await first.getByRole('button', { name: 'Edit as JSON' }).click();
  await first.getByLabel('As JSON').waitFor();
  await first.getByRole('button', { name: 'Remove this rule' }).click();
  await expect.poll(() => first.count()).toBe(0);
  expect(await next.getByLabel('As JSON').count()).toBe(0);
});

test('tracking plan: the draft is tried on recent events, and a quarantined event is released and judged again', async () => {
  await open('/tracking-plan/rules', 'Try on recent events');
  await press('Try on recent events');
  await waitForText(page, 'the draft would have');
  await open('/tracking-plan/quarantine', 'Payment Failed');
  await press('Release', true);
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
  await waitForText(page, 'released 1 time before');
  expect(await showsText(page, 'Payment Failed')).toBe(true);
});

test('personal data: one click hashes a property at a destination, in the draft', async () => {
  await open('/tracking-plan/personal-data', 'At one destination');
  await page.getByText('At one destination').first().click();
  await page.getByLabel('Destination', { exact: true }).selectOption({ index: 1 });
  await press('Hash it in the draft');
  await waitForText(page, 'View the draft');
  await open('/draft', 'Draft');
  expect(await showsText(page, 'Personal data: contact_email')).toBe(true);
});

test('tracking plan: a planned event is written with its properties, tried, and refused where a value is of another type', async () => {
  const field = (label: string, place = 0) => page.getByLabel(label, { exact: true }).nth(place);
  await open('/tracking-plan/new-event', 'Add a property');
  await field('Name').fill('Order Completed');
  await field('Status').selectOption('Approved');
  await press('Add a property');
  await field('Property 1').fill('currency');
  await field('Allowed values').fill('USD, CHF');
  await press('Add a property');
  await field('Property 2').fill('total');
  await field('Type', 1).selectOption('number');
  await field('Allowed values', 1).fill('ten');
  await press('Save in the draft');
  await waitForText(page, 'properties[1].allowedValues must be values of the type number');
  await field('Allowed values', 1).fill('');
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft.');
  await press('Try on recent events');
  await waitForText(page, 'the draft would have');
  expect(await showsText(page, 'event_properties.currency: AAA')).toBe(true);
});

test('tracking plan: an edit of a planned property keeps its allowed values with their types', async () => {
  const { client } = account;
  const properties = [
    { name: 'sizes', type: 'array', isRequired: false, description: null, allowedValues: [1, 2] },
    { name: 'flag', type: 'any', isRequired: false, description: null, allowedValues: [1, true] },
    { name: 'clerk', type: 'string', isRequired: false, description: null, allowedValues: ['Smith, John'] },
  ];
  const { id } = await client.api('POST', 'collections/dataGovernanceEvents', { name: 'Sizes Chosen', properties });
  await open(`/tracking-plan/events/${String(id)}`, 'Add a property');
  for (const place of [0, 1, 2]) await page.getByLabel('Required').nth(place).check();
  const values = page.getByLabel('Allowed values', { exact: true });
  await values.nth(0).fill(`${await values.nth(0).inputValue()}, L`);
  await values.nth(2).fill(`${await values.nth(2).inputValue()}, Ann`);
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft.');
  const path = `collections/dataGovernanceEvents/${String(id)}`;
  const { properties: saved } = await client.api('GET', path);
  expect(saved).toMatchObject([
    { isRequired: true, allowedValues: [1, 2, 'L'] },
    { isRequired: true, allowedValues: [1, true] },
    { isRequired: true, allowedValues: ['Smith, John', 'Ann'] },
  ]);
  await client.api('DELETE', path);
});

test('rules: a purpose keeps its consent signals, and a new allowed event shows which destinations would not get it', async () => {
  await open('/rules/new-purpose', 'Partner postback');
  await page.getByLabel('Name', { exact: true }).fill('personalisation');
  await page.getByLabel('Partner postback').check();
  await page.getByText('Signals of consent platforms').click();
  await page.getByLabel('Cookiebot categories').fill('marketing, statistics');
  await page.getByLabel('OneTrust groups').fill('Marketing Cookies, C0004');
  await page.getByLabel('TCF purposes').fill('1');
  await page.getByLabel('Ignore TCF where the GDPR does not apply').check();
  await page.getByLabel('TCF purposes').fill('');
  await page.getByLabel('TCF purposes').fill('1, 3');
  await page.getByLabel('Global Privacy Control of the browser').selectOption('deny');
  await page.getByLabel('Google and Microsoft as ad_user_data').check();
  await press('Save in the draft');
  await waitForText(page, 'Saved in the draft.');
  await open('/rules/purposes/personalisation', 'Signals of consent platforms');
  expect(await page.getByLabel('Cookiebot categories').inputValue()).toBe('marketing, statistics');
  expect(await page.getByLabel('OneTrust groups').inputValue()).toBe('Marketing Cookies, C0004');
  expect(await page.getByLabel('TCF purposes').inputValue()).toBe('1, 3');
  expect(await page.getByLabel('Ignore TCF where the GDPR does not apply').isChecked()).toBe(true);
  expect(await page.getByLabel('Google and Microsoft as ad_user_data').isChecked()).toBe(true);
  expect(await page.getByLabel('Global Privacy Control of the browser').inputValue()).toBe('deny');
  await open('/rules/new-event', 'Destinations for this event');
  await page.getByLabel('Event name', { exact: true }).fill('Nothing Else');
  expect(await showsText(page, 'Its name is not among the allowed events')).toBe(true);
});

test('experiments: an experiment is prepared, started, given to visitors, and ended with one variant for all', async () => {
  await open('/experiments', 'Banner for free shipping');
  await press('Add an experiment');
  await page.getByLabel('Name').fill('By hand');
  await page.getByLabel('Key').fill('by-hand');
  await page.getByLabel('Conversion event').fill('Order Completed');
  await press('Add to the draft');
  await press('Add a variant');
  await page.getByRole('button', { name: 'Add it', exact: true }).click();
  await waitForText(page, 'the remainder');
  await press('Add a variant');
  await page.getByLabel('Variant name').fill('Green');
  await page.getByRole('button', { name: 'Add it', exact: true }).click();
  await page.getByLabel('Weight of Green').fill('30');
  await press('Save the weights');
  await waitForText(page, 'Saved in the draft');
  await press('Start');
  await waitForText(page, 'Visitors see it once you publish');
  await account.client.publish('An experiment by hand');
  expect(await showsText(page, 'No visitor has seen a variant yet')).toBe(true);
  await assignVisitors(stack.credentials, 'by-hand', 8);
  await waitForText(page, 'Too few visitors to check');
  await press('End with one variant for everyone');
  await page.getByLabel('Every visitor gets').selectOption({ label: 'Green' });
  await press('End with this variant');
  await waitForText(page, 'every visitor gets');
});

test('experiments: a new variant does not discard typed weights, and forms save only the fields that were edited', async () => {
  const { client } = account;
  const { id } = await client.api('POST', 'collections/experiments', { name: 'Typed weights', key: 'typed-weights' });
  const add = async (fields: object): Promise<string> =>
    String((await client.api('POST', 'collections/experimentVariants', { experimentId: id, ...fields }))['id']);
  const controlId = await add({ name: 'Today', isControl: true });
  const blueId = await add({ name: 'Blue', weight: 30 });
  const redId = await add({ name: 'Red', weight: 30 });
  await open(`/experiments/${String(id)}`, 'the remainder');
  await page.getByLabel('Weight of Blue').fill('20');
  await press('Add a variant');
  await page.getByLabel('Variant name').fill('White');
  await page.getByLabel('Weight, in percent').fill('10');
  await page.getByRole('button', { name: 'Add it', exact: true }).click();
  await page.getByLabel('Weight of White').waitFor();
  expect(await page.getByLabel('Weight of Blue').inputValue()).toBe('20');
  await client.api('PATCH', `collections/experimentVariants/${redId}`, { weight: 35 });
  await client.api('PATCH', `collections/experiments/${String(id)}`, { trafficAllocation: 60 });
  await press('Save the weights');
  await waitForText(page, 'Saved in the draft');
  const audience = page.getByRole('region', { name: 'Audience' });
  await audience.getByLabel('Name').fill('Renamed by hand');
  await audience.getByRole('button', { name: 'Save in the draft' }).click();
  await page.getByRole('heading', { name: 'Renamed by hand' }).waitFor();
  const weightOf = async (one: string): Promise<unknown> =>
    (await client.api('GET', `collections/experimentVariants/${one}`))['weight'];
  expect([await weightOf(blueId), await weightOf(redId)]).toEqual([20, 35]);
  expect(await client.api('GET', `collections/experiments/${String(id)}`)).toMatchObject({ trafficAllocation: 60 });
  const { entities } = await client.api('GET', `collections/experimentVariants?experimentId=${String(id)}`);
  for (const one of entities as readonly { readonly id: string }[]) {
    if (one.id !== controlId) await client.api('DELETE', `collections/experimentVariants/${one.id}`);
  }
  await client.api('DELETE', `collections/experimentVariants/${controlId}`);
  await client.api('DELETE', `collections/experiments/${String(id)}`);
});

test('experiments: results show significant differences, and warn if visitors are not divided by the weights', async () => {
  await open(`/experiments/${account.experiments.measuredId}`, 'Above the control');
  await open(`/experiments/${account.experiments.mismatchedId}`, 'Do not trust these results');
  expect(await showsText(page, 'less than 0.0001')).toBe(true);
});

test('hostile texts: markup, 10,000 characters and right-to-left overrides are shown as text', async () => {
  const paths = ['/', '/destinations', '/events', '/events/hostile-event', '/rules', '/experiments'];
  const more = [
    `/rules/mappings/${account.hostileMappingId}?event=hostile-event`,
    `/experiments/${account.experiments.preparedId}`,
  ];
  for (const path of [...paths, ...more]) {
    await open(path, hostile.markup);
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect([path, await widthPx()]).toEqual([path, 1280]);
  }
});

test('first load: the overview loads fewer than 150 KiB', async () => {
  await page.goto('/');
  await waitForText(page, 'Events in');
  const readableMs = await page.evaluate<number>('performance.now()');
  // The chart is loaded after the text.
  await waitForText(page, 'at most in this range');
  const bytes = await page.evaluate<number>(`
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
  console.info(
    `first load: ${(bytes / 1024).toFixed(1)} KiB compressed, to be read after ${Math.round(readableMs)} ms`,
  );
  expect(bytes).toBeLessThan(150 * 1024);
});

type Box = { readonly x: number; readonly width: number };
const rightOf = (box: Box | null): number => (box === null ? Infinity : box.x + box.width);

test('ten thousand destinations: only those on the screen are drawn, and the page scrolls through them', async () => {
  const pages = 4;
  await page.route('**/rest/v1/activity/destinations?*', async (route) => {
    const answer = await route.fetch({ url: `${stack.credentials.controlPlane}/rest/v1/activity/destinations` });
    const { entities: real } = (await answer.json()) as { readonly entities: readonly object[] };
    const number = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const entities = Array.from({ length: 10_000 / pages }, (_, place) => {
      const index = (number * 10_000) / pages + place;
      return { ...real[index % real.length], id: `made-up-${index}`, name: `Destination ${index}` };
    });
    const nextCursor = number + 1 < pages ? String(number + 1) : null;
    const pagination = { nextCursor, hasMore: nextCursor !== null };
    await route.fulfill({ response: answer, json: { entities, pagination, total: 10_000 } });
  });
  await open('/destinations', '10,000 destinations');
  const rows = async (): Promise<number> => {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    return Number(await page.getByRole('table').getAttribute('aria-rowcount'));
  };
  await expect.poll(rows, { timeout: 60_000 }).toBe(10_001);
  await page.evaluate('scrollTo(0, 0)');
  expect(await page.evaluate<number>(scrollingThrough)).toBeLessThan(60);
  await page
    .getByRole('row', { name: /^Destination \d+/ })
    .last()
    .waitFor();
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(widthPx).toBe(390);
  // On a narrow screen a row's figures are in a card, below the name.
  const figure = page
    .getByRole('row', { name: /^Destination \d+/ })
    .last()
    .getByRole('cell')
    .nth(6);
  // Polled, because rows change while the page is laid out again.
  await expect.poll(async () => rightOf(await figure.boundingBox())).toBeLessThanOrEqual(390);
});

test('a hundred thousand recent events: scrolling reads more events, and only those on the screen are drawn', async () => {
  const pages = 4;
  await page.route(/\/rest\/v1\/events\?limit=/, async (route) => {
    const number = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const entities = Array.from({ length: 100_000 / pages }, (_, index) =>
      madeUpEvent((number * 100_000) / pages + index),
    );
    const nextCursor = number + 1 < pages ? String(number + 1) : null;
    await route.fulfill({ json: { entities, pagination: { nextCursor, hasMore: nextCursor !== null } } });
  });
  await open('/events?view=before', 'Event 0');
  const table = page.getByRole('table');
  const rows = async (): Promise<number> => {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    return Number(await table.getAttribute('aria-rowcount'));
  };
  await expect.poll(rows, { timeout: 60_000 }).toBe(100_001);
  await page.evaluate('scrollTo(0, 0)');
  expect(await page.evaluate<number>(scrollingThrough)).toBeLessThan(60);
  // Polled, because rows drawn for the first time are measured, which may move the end of the page.
  const lastRows = async (): Promise<number> => {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    return page.locator('tr[aria-rowindex="100001"]').count();
  };
  await expect.poll(lastRows).toBe(1);
});

test('single sign-on: the button leads through the provider into the console, with the role for the e-mail address', async () => {
  await visit.close();
  visit = await openVisit(browser, { baseUrl: stack.credentials.controlPlane, alsoVisits: provider.issuer });
  page = visit.page;
  provider.person = { sub: 'n-1', email: 'stranger@elsewhere.example', email_verified: true };
  await page.goto('/');
  await press('Sign in with Example ID');
  await waitForText(page, 'ask an admin for an invitation');
  // The provider would otherwise sign in the same person again from its own session.
  await page.context().clearCookies();
  provider.person = { sub: 'v-1', email: 'val@example.com', email_verified: true };
  await press('Sign in with Example ID');
  await waitForText(page, 'val@example.com');
  expect(await page.getByRole('link', { name: 'Destinations', exact: true }).count()).toBe(1);
  expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0);
});

const madeUpEvent = (index: number): object => ({
  id: `made-up-${index}`,
  event: `Event ${index}`,
  time: '2026-11-27T00:00:00.000Z',
  receivedAt: '2026-11-27T00:00:00.000Z',
  sourceId: 'made-up',
  visitorId: 'made-up',
  visitor: { external_id: `customer-${index}` },
  test: false,
  plan: null,
  outcomes: [],
});

/** Scrolls to the end of the page in 20 steps of one frame each. Returns the maximum number of rows drawn. */
const scrollingThrough = `new Promise((resolve) => {
  const end = document.documentElement.scrollHeight;
  let frame = 0;
  let most = 0;
  const step = () => {
    most = Math.max(most, document.querySelectorAll('tbody tr').length);
    frame += 1;
    if (frame > 20) return resolve(most);
    scrollTo(0, frame === 20 ? document.documentElement.scrollHeight : (end * frame) / 20);
    requestAnimationFrame(step);
  };
  step();
})`;
