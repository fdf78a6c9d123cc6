const pollMs = 20;

/** Polls until `check` returns undefined; after the deadline, throws with the last reason that it returned. */
export async function waitUntil(
  what: string,
  deadlineMs: number,
  check: () => Promise<string | undefined>,
  everyMs = pollMs,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const missing = await check();
    if (missing === undefined) return;
    if (performance.now() > deadline) throw new Error(`waiting for ${what}: ${missing}`);
    await sleep(everyMs);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
