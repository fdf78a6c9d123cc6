/**
 * Waits for work, but not longer than `deadlineMs`; the work continues. A failure within that time is thrown, a later
 * one is ignored.
 */
export async function withDeadline(work: Promise<unknown>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
