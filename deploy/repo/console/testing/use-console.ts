import type { Page } from 'playwright-core';

/** No time decides a test: this only ends what hangs. */
const timeoutMs = 45_000;

/** Signs in with a key. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('API key').fill(key, { timeout: timeoutMs });
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // On a narrow screen it is there, in a menu that is closed.
  await page.getByText('Sign out', { exact: true }).waitFor({ state: 'attached', timeout: timeoutMs });
}

/** Waits until the page shows a text somewhere. */
export async function waitForText(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor({ state: 'attached', timeout: timeoutMs });
}

/** Whether the page comes to show a text somewhere. */
export async function showsText(page: Page, text: string): Promise<boolean> {
  await waitForText(page, text);
  return (await page.getByText(text).count()) > 0;
}
