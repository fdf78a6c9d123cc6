/** The threads of this process that answer orders. */
export type AnsweringThreads = {
  /** Adds a thread that has reported itself; has no effect if the thread has already ended. */
  add(threadId: number): void;
  /** Whether all threads that are still running have answered. */
  areAllOf(answered: { has(threadId: number): boolean }): boolean;
};

/** Follows the threads that the calling thread starts from now on. */
export function followThreads(): AnsweringThreads {
  const running = new Set<number>();
  const answering = new Set<number>();
  process.on('worker', (worker) => {
    // `threadId` is -1 after the end of the thread.
    const { threadId } = worker;
    running.add(threadId);
    worker.once('exit', () => {
      running.delete(threadId);
      answering.delete(threadId);
    });
  });
  return {
    add(threadId) {
      if (running.has(threadId)) answering.add(threadId);
    },
    areAllOf: (answered) => [...answering].every((threadId) => answered.has(threadId)),
  };
}
