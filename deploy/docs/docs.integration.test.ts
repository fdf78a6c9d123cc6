import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';
import { makeStackFolder } from '../local/testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../local/testing/running-stack.ts';
import type { RunningStack } from '../local/testing/running-stack.ts';
import { findBrowser } from '../../shared/testing/browser-binary.ts';
import { findBarriers, openBrowser, openVisit } from '../repo/console/testing/open-browser.ts';
import { commandBlocks, makeReaderFolder, runBlocks } from './testing/commands.ts';

const top = fileURLToPath(topFolder);
let stackFolder: string;
let readerFolder: string;
let stack: RunningStack;

beforeAll(async () => {
  // Builds the site. The build fails for a broken link.
  await promisify(execFile)(process.execPath, [compiledPath(new URL('main.ts', import.meta.url))], { cwd: top });
  [stackFolder, readerFolder] = [await makeStackFolder(), await mkdtemp(join(tmpdir(), 'sluice-reader-'))];
  [stack] = await Promise.all([
    runStack(stackFolder, await chooseStackPorts()),
    makeReaderFolder(readerFolder, stackFolder),
  ]);
});
afterAll(async () => {
  await stack.stop();
  await Promise.all([stackFolder, readerFolder].map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Pages whose commands are run: the site's hand-written pages, and the README. */
async function pagesWithCommands(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '*.md'], { cwd: top });
  const read =
    /^(?:README\.md|SECURITY\.md|bench\/faults\/README\.md|deploy\/docs\/pages\/.+|deploy\/(?:runbook|docker|compose|helm|systemd|nats)\/.+)$/;
  return stdout.split('\n').filter((path) => read.test(path));
}

const pages = await Promise.all(
  (await pagesWithCommands()).map(async (page) => {
    const blocks = commandBlocks(await readFile(join(top, page), 'utf8'));
    return { page, blocks, run: blocks.filter((block) => block.notRun === undefined) };
  }),
);

test('documentation: a command that cannot run here has a reason', () => {
  const notRun = pages.flatMap(({ blocks }) => blocks).filter((block) => block.notRun !== undefined);
  expect(pages.flatMap(({ run }) => run).length).toBeGreaterThan(20);
  // Skipped commands are not checked, so a further one needs a good reason.
  expect(notRun.length).toBeLessThanOrEqual(22);
});

test.each(pages.filter(({ run }) => run.length > 0))('documentation: every command of $page works', async ({ run }) => {
  const { code, output } = await runBlocks(run, readerFolder);
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
});

test('documentation: the event of a page’s command arrives', async () => {
  await expect
    .poll(async () => (await fetch(`${stack.credentials.sink}/events?limit=100`)).text())
    .toContain('customer-43');
});

test('documentation: has the same content policy as the console, and loads nothing from other servers', async () => {
  const base = stack.credentials.controlPlane;
  for (const path of ['/docs', '/docs/']) {
    const moved = await fetch(`${base}${path}`, { redirect: 'manual' });
    expect([path, moved.status, moved.headers.get('location')]).toEqual([path, 302, '/docs/index.html']);
  }
  const answer = await fetch(`${base}/docs/index.html`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
  expect(policy).not.toContain('unsafe');
  const html = await answer.text();
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=|(?:src|href)="(?:https?:)?\/\//);
  expect(await (await fetch(`${base}/docs/llms.txt`)).text()).toContain('](start.md): ');
  expect((await fetch(`${base}/docs/none.html`)).status).toBe(404);
});

test('documentation: a reader can search it, turn it dark, read it on a phone and try a request', async () => {
  const browser = await openBrowser(await findBrowser());
  try {
    const visit = await openVisit(browser, { baseUrl: stack.credentials.controlPlane });
    const { page } = visit;
    await page.goto('/docs/start.html');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('erasure suppress');
    await page.getByRole('link', { name: 'Erasure and access' }).first().click();
    await page.waitForURL('**/docs/privacy.html#erasure-and-access');
    await page.getByRole('button', { name: /light and dark/ }).click();
    expect(await page.evaluate<string>('getComputedStyle(document.body.parentElement).backgroundColor')).toBe(
      'rgb(17, 23, 28)',
    );
    expect(await findBarriers(page)).toEqual([]);
    await page.goto('/docs/api/destinations.html');
    await page.getByRole('button', { name: 'Try it' }).first().click();
    await page.getByLabel('API key').fill(stack.credentials.apiKey);
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByText('"HTTPDestination"').first().waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['index', 'start', 'destinations/braze', 'settings', 'api/destinations', 'operate/alerts']) {
      await page.goto(`/docs/${path}.html`);
      const barriers = path === 'api/destinations' ? await findBarriers(page) : [];
      expect({ path, barriers, widthPx: await page.evaluate<number>('document.documentElement.scrollWidth') }).toEqual({
        path,
        barriers: [],
        widthPx: 390,
      });
    }
    expect(visit.complaints.found).toEqual([]);
    await visit.close();
  } finally {
    await browser.close();
  }
});
