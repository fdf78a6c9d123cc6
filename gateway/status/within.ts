/** Waits for work, but not longer than `deadlineMs`: the work goes on, whoever waits does not. */
export async function within(deadlineMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
