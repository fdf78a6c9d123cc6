import axe from 'axe-core';
import { chromium as playwright } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/** Problems of pages during a visit that a user might not see. */
export type Complaints = {
  /** Script errors, console errors, violations of the content security policy, and requests to other servers. */
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
  /** The state of an earlier window, so that this one is signed in like it. */
  readonly memory?: Memory;
};

/** Cookies and local storage. */
export type Memory = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Flags that a browser needs in a container; no flag weakens the rules for pages. */
const wanted = ['--no-sandbox', '--no-zygote', '--font-render-hinting=none', '--disable-gpu'];

/** A headless Chromium. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return playwright.launch({ executablePath, args: wanted, headless: true });
}

/** Opens a window with its own state, and records all problems of its pages. */
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
    // Browsers log a refused request, too; pages show the refusal as text, and tests check that text.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
    if (message.type() === 'error' && !isRefusal) found.push(`console: ${message.text()} ${message.location().url}`);
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

/** Options for all rules. Passed rules are not collected, because that would take as long as the check. */
const all = JSON.stringify({ resultTypes: ['violations'] });

/** Options for the rules about colours, which are checked again in the other colour scheme. */
const coloured = JSON.stringify({ runOnly: ['color-contrast', 'link-in-text-block'], resultTypes: ['violations'] });

/** The violations that axe finds on the current page, one line each, of all rules or of the rules about colours. */
export async function findBarriers(page: Page, rules: 'all' | 'coloured' = 'all'): Promise<readonly string[]> {
  // Injected as a debugger would, because the page's policy allows no other script.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`(() => { ${axe.source} })()`);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules === 'all' ? all : coloured})`);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
