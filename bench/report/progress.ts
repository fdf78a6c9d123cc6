import { Presets, SingleBar } from 'cli-progress';

/** Shows the progress of a run: as a bar on a terminal, otherwise not at all, so that logs stay readable. */
export type Progress = {
  /** Ends the previous step and begins one that takes about `seconds`. */
  step(label: string, seconds: number): void;
  /** Shows a text next to the bar, such as a current value. */
  note(text: string): void;
  clear(): void;
};

const redrawMs = 250;
const labelCharacters = 56;

export function createProgress(output: NodeJS.WriteStream): Progress {
  if (!output.isTTY) return { step: () => undefined, note: () => undefined, clear: () => undefined };
  const bar = new SingleBar(
    {
      format: ' {bar} {label} {note}',
      barsize: 24,
      clearOnComplete: true,
      hideCursor: true,
      stream: output,
      linewrap: false,
      autopadding: true,
    },
    Presets.shades_classic,
  );
  let timer: NodeJS.Timeout | undefined;
  const clear = (): void => {
    clearInterval(timer);
    timer = undefined;
    bar.stop();
  };
  return {
    step(label, seconds) {
      clear();
      const startedMs = performance.now();
      bar.start(Math.max(1, seconds * 1000), 0, { label: label.slice(0, labelCharacters), note: '' });
      timer = setInterval(() => bar.update(Math.min(seconds * 1000, performance.now() - startedMs)), redrawMs);
      timer.unref();
    },
    note: (text) => bar.update({ note: text }),
    clear,
  };
}
