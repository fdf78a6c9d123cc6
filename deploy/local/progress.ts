/** Prints a line for each step of the start, with its duration. */
export type Progress = {
  /** Runs one step; its line appears when it is done. */
  step<Result>(name: string, work: (note: (text: string) => void) => Promise<Result>): Promise<Result>;
  line(text: string): void;
};

export function createProgress(write: (text: string) => void): Progress {
  return {
    async step(name, work) {
      const startedMs = performance.now();
      write(`· ${name} …\n`);
      const note = (text: string): void => write(`    ${text}\n`);
      const result = await work(note);
      write(`✓ ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)\n`);
      return result;
    },
    line: (text) => write(`${text}\n`),
  };
}
