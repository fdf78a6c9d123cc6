import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { findBrowser } from '../../../../shared/testing/browser-binary.ts';

// Flags of the package that tests must not have. With `--disable-web-security`, for example, a browser skips the CORS
// checks that these tests need.
const unwanted = ['--disable-web-security', '--single-process', '--allow-running-insecure-content'];

/** Starts a headless browser, which comes from a package. */
export async function startBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await findBrowser(),
    headless: true,
    args: chromium.args.filter((argument) => !unwanted.includes(argument)),
  });
}
