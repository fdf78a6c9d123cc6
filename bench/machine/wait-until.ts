const pollMs = 20;

/** Polls until `check` says nothing is missing; throws with what it said last once the deadline has passed. */
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
