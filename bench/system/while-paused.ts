/**
 * Does something while a process stands still: a log can be filled without its reader working it off meanwhile, and the
 * reader, its connections and consumers made, then begins at once.
 */
export async function whilePaused(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
