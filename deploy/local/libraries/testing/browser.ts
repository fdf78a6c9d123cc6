import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { findBrowser } from '../../../../shared/testing/browser-binary.ts';

// Flags that the package adds for machines without other work. Without web security a browser skips CORS checks, which
// these tests need.
const unwanted = ['--disable-web-security', '--single-process', '--allow-running-insecure-content'];

/** A real browser without a window, from the package registry alone. */
export async function startBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await findBrowser(),
    headless: true,
    args: chromium.args.filter((argument) => !unwanted.includes(argument)),
  });
}
