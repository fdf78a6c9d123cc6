import type { Page } from 'playwright-core';

/** Ends a test that hangs. No result depends on the value. */
const timeoutMs = 45_000;

export async function signIn(page: Page, key: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('API key').fill(key, { timeout: timeoutMs });
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // Attached and not visible, because on a narrow screen the button is in a closed menu.
  await page.getByText('Sign out', { exact: true }).waitFor({ state: 'attached', timeout: timeoutMs });
}

/** Waits until the page shows a text somewhere. */
export async function waitForText(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor({ state: 'attached', timeout: timeoutMs });
}

/** Whether the page shows a text within the time limit. */
export async function showsText(page: Page, text: string): Promise<boolean> {
  await waitForText(page, text);
  return (await page.getByText(text).count()) > 0;
}

/** Numbers of a user's steps: pressed links and buttons, and filled-in fields. */
export type Steps = { readonly presses: number; readonly fields: number };

/** Counts a user's steps, from the next page that is opened. The returned function reads the counts. */
export async function countSteps(page: Page): Promise<() => Promise<Steps>> {
  await page.addInitScript(`{
    const add = (what) => sessionStorage.setItem(what, String(Number(sessionStorage.getItem(what)) + 1));
    const filled = new WeakSet();
    document.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('a, button, summary, [role=option]')) add('presses');
    }, true);
    document.addEventListener('input', ({ target }) => {
      if (!filled.has(target)) add('fields');
      filled.add(target);
    }, true);
  }`);
  return () =>
    page.evaluate<Steps>(`({
      presses: Number(sessionStorage.getItem('presses')),
      fields: Number(sessionStorage.getItem('fields')),
    })`);
}
