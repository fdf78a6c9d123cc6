/** Polls until the condition holds; fails after `deadlineMs` with an error that contains `what`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 45_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
