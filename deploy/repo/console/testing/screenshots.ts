import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../../shared/runtime/compiled-path.ts';
import { makeStackFolder } from '../../../local/testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../../../local/testing/running-stack.ts';
import { fillAccount } from './fill-account.ts';
import type { FilledAccount } from './fill-account.ts';
import chromium from '@sparticuz/chromium';
import { ordinary } from './hostile-texts.ts';
import { openBrowser, openVisit } from './open-browser.ts';
import { signIn, waitForText } from './use-console.ts';

// Takes screenshots of each page of the console, with a filled stack: light and dark, wide and narrow.

const shapes = [
  { name: 'light', widthPx: 1280, heightPx: 860, colorScheme: 'light' },
  { name: 'dark', widthPx: 1280, heightPx: 860, colorScheme: 'dark' },
  { name: 'narrow', widthPx: 390, heightPx: 780, colorScheme: 'light' },
] as const;

type Shot = { readonly name: string; readonly path: string; readonly until: string };

const destinationShots = ({ healthyId, failingId, refusingId, letterSeq }: FilledAccount): readonly Shot[] => [
  { name: 'destination', path: `/destinations/${refusingId}`, until: 'status 400' },
  { name: 'destination-failing', path: `/destinations/${failingId}?step=1`, until: 'status 503' },
  { name: 'destination-delivery', path: `/destinations/${refusingId}/delivery`, until: 'Over time' },
  { name: 'destination-settings', path: `/destinations/${healthyId}/settings`, until: 'Save in the draft' },
  { name: 'destination-test', path: `/destinations/${healthyId}/test`, until: 'Send' },
  { name: 'destination-dead-letters', path: `/destinations/${refusingId}/dead-letters`, until: 'status 400' },
  { name: 'log-search', path: '/events/search', until: 'Search by' },
  {
    name: 'dead-letter',
    path: `/destinations/${refusingId}/dead-letters/${letterSeq}`,
    until: 'Response of the platform',
  },
  {
    name: 'events-past',
    path: `/events?view=before&destinationId=${refusingId}&outcome=rejected`,
    until: 'This view keeps events since',
  },
];

const shots = ({
  eventId,
  mappingId,
  planRuleId,
  experiments,
  sourceId,
  visitorId,
  versionId,
}: FilledAccount): readonly Shot[] => [
  { name: 'overview', path: '/', until: 'at most in this range' },
  { name: 'overview-week', path: '/?range=7d', until: 'at most in this range' },
  { name: 'map', path: '/map', until: 'Warehouse loader' },
  { name: 'destinations', path: '/destinations', until: 'Warehouse loader' },
  { name: 'destination-new', path: '/destinations/new', until: 'Needs' },
  { name: 'events', path: '/events', until: 'Order Completed' },
  { name: 'event', path: `/events/${eventId}`, until: 'No mapping matches' },
  { name: 'visitors', path: '/visitors', until: 'Find' },
  { name: 'visitor', path: `/visitors/${visitorId}`, until: 'Merged from' },
  { name: 'sources', path: '/sources', until: 'Demo source' },
  { name: 'source', path: `/sources/${sourceId}`, until: 'The whole guide' },
  { name: 'rules', path: '/rules', until: 'Partner: no sign-ups' },
  { name: 'mapping', path: `/rules/mappings/${mappingId}?event=${eventId}`, until: 'This rule decides' },
  { name: 'dispatch-rules', path: `/rules/dispatch?event=${eventId}`, until: 'No mapping matches' },
  { name: 'allowed-events', path: '/rules/events', until: 'Every event goes to every destination' },
  { name: 'allowed-event', path: `/rules/new-event?event=${eventId}`, until: 'No mapping matches' },
  { name: 'consent', path: '/rules/consent', until: 'advertising' },
  { name: 'purpose', path: '/rules/purposes/advertising', until: 'Signals of consent platforms' },
  { name: 'violations', path: '/tracking-plan', until: '9999 9999' },
  { name: 'quarantine', path: '/tracking-plan/quarantine', until: 'Payment Failed' },
  { name: 'plan-rules', path: '/tracking-plan/rules', until: 'Not in the plan' },
  { name: 'personal-data', path: '/tracking-plan/personal-data', until: 'Redact it in the draft' },
  { name: 'plan-rule', path: `/tracking-plan/rules/${planRuleId}`, until: 'Save in the draft' },
  { name: 'event-held', path: '/events/held-event-0', until: 'No card numbers' },
  { name: 'experiments', path: '/experiments', until: 'Banner for free shipping' },
  { name: 'experiment', path: `/experiments/${experiments.measuredId}`, until: 'Above the control' },
  { name: 'experiment-mismatch', path: `/experiments/${experiments.mismatchedId}`, until: 'Do not trust' },
  { name: 'users', path: '/users', until: 'Privacy officer' },
  { name: 'audit', path: '/audit', until: 'version.publish' },
  { name: 'keys', path: '/keys', until: 'Last used' },
  { name: 'draft', path: '/draft', until: 'Publish 2 changes' },
  { name: 'versions', path: '/versions', until: 'Four destinations' },
  { name: 'version', path: `/versions/${versionId}`, until: 'run it' },
  { name: 'system', path: '/system', until: 'configured correctly' },
  { name: 'runbook', path: '/system/runbook/SluiceIngestRefusing', until: 'What to do' },
];

const users = {
  'ada@example.com': 'admin',
  'grace@example.com': 'publisher',
  'radia@example.com': 'privacy-officer',
  'tony@example.com': 'viewer',
};

const target = process.argv[2] ?? fileURLToPath(new URL('deploy/repo/console/', topFolder));
const folder = await makeStackFolder();
const stack = await runStack(folder, await chooseStackPorts());
const browser = await openBrowser(await chromium.executablePath());
try {
  const account = await fillAccount(stack.credentials, ordinary);
  for (const [email, role] of Object.entries(users)) await account.client.api('POST', 'users', { email, role });
  await mkdir(target, { recursive: true });
  for (const { name: shape, ...window } of shapes) {
    const visit = await openVisit(browser, { baseUrl: stack.credentials.controlPlane, ...window });
    const { page } = visit;
    await page.goto('/');
    await waitForText(page, 'Sign in');
    await page.screenshot({ path: `${target}/sign-in-${shape}.png` });
    await signIn(page, stack.credentials.apiKey);
    for (const { name, path, until } of [...shots(account), ...destinationShots(account)]) {
      await page.goto(path);
      try {
        await waitForText(page, until);
        await page.getByText('Loading …').first().waitFor({ state: 'hidden' });
      } catch (error) {
        console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
      await page.screenshot({ path: `${target}/${name}-${shape}.png`, fullPage: shape === 'narrow' });
    }
    for (const complaint of visit.complaints.found) console.error(`${shape}: ${complaint}`);
    if (visit.complaints.found.length > 0) process.exitCode = 1;
    await visit.close();
  }
} finally {
  await browser.close();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}
