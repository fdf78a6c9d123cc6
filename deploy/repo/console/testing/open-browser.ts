import axe from 'axe-core';
import { chromium as playwright } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/** What a person cannot see: what the page complained of while it was used. */
export type Complaints = {
  /** Errors of its scripts, of its console, of its policy, and requests to anywhere else. */
  readonly found: readonly string[];
};

export type Visit = {
  readonly page: Page;
  /** Another tab of the same window. */
  openTab(): Promise<Page>;
  readonly complaints: Complaints;
  readMemory(): Promise<Memory>;
  close(): Promise<void>;
};

export type VisitOptions = {
  readonly baseUrl: string;
  /** Another service whose pages are part of the visit. */
  readonly alsoVisits?: string;
  readonly widthPx?: number;
  readonly heightPx?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** What a window before it remembered: it is signed in as that one was. */
  readonly memory?: Memory;
};

/** Cookies and the like. */
export type Memory = Awaited<ReturnType<BrowserContext['storageState']>>;

/** What a browser in a container needs, and nothing that weakens what pages may do. */
const wanted = ['--no-sandbox', '--no-zygote', '--font-render-hinting=none', '--disable-gpu'];

/** A headless Chromium. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return playwright.launch({ executablePath, args: wanted, headless: true });
}

/** A window with a memory of its own, which notes whatever goes wrong. */
export async function openVisit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const context: BrowserContext = await browser.newContext({
    baseURL: options.baseUrl,
    viewport: { width: options.widthPx ?? 1280, height: options.heightPx ?? 900 },
    colorScheme: options.colorScheme ?? 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-write'],
    ...(options.memory === undefined ? {} : { storageState: options.memory }),
  });
  const found: string[] = [];
  context.on('weberror', (error) => found.push(`script: ${error.error().message}`));
  context.on('console', (message) => {
    // What the interface refuses is a line of the console, too: pages say it in words, and tests ask for those.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
    if (message.type() === 'error' && !isRefusal) found.push(`console: ${message.text()}`);
  });
  context.on('request', (request) => {
    const url = request.url();
    const expected = [options.baseUrl, options.alsoVisits, 'data:'].filter((one) => one !== undefined);
    if (!expected.some((one) => url.startsWith(one))) found.push(`request to ${url}`);
  });
  const page = await context.newPage();
  return {
    page,
    openTab: () => context.newPage(),
    complaints: { found },
    readMemory: () => context.storageState(),
    close: () => context.close(),
  };
}

/** All rules. What a page passes is not collected: that takes as long as the check. */
const all = JSON.stringify({ resultTypes: ['violations'] });

/** Rules whose answer a colour decides, and that a page asks again in another scheme. */
const coloured = JSON.stringify({ runOnly: ['color-contrast', 'link-in-text-block'], resultTypes: ['violations'] });

/** What axe finds on the page as it is now, in a line each: by all its rules, or by those about colours. */
export async function findBarriers(page: Page, rules: 'all' | 'coloured' = 'all'): Promise<readonly string[]> {
  // As a debugger would, past the page's policy, which lets no script in.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`(() => { ${axe.source} })()`);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules === 'all' ? all : coloured})`);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
