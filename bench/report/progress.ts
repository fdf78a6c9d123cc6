import { Presets, SingleBar } from 'cli-progress';

/** Shows the progress of a run: a bar on a terminal, and nothing elsewhere, so that logs stay readable. */
export type Progress = {
  /** Begins a step that takes about this long, and ends the previous one. */
  step(label: string, seconds: number): void;
  /** Shows a current value beside the bar. */
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
