/** Polls until `condition` holds; the error of a timeout contains `what`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 45_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
