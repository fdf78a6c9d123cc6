import type { Static, TObject } from 'typebox';
import { count } from '../../../shared/runtime/variables.ts';

export type ResultsSettings = {
  /** Frames asked for, and worked on, in one go. */
  readonly framesPerTake: number;
  /** Visitors written by one statement, at most. */
  readonly rowsPerWrite: number;
  /** A pause between two takes while little comes, so that small frames are written together, in ms. */
  readonly lingerMs: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
};

/** The results counters' part of the pipeline's environment. */
export const resultsEnv = {
  RESULTS_FRAMES_PER_TAKE: count("Frames that are counted for experiments' results in one go", 32, { maximum: 1_024 }),
  RESULTS_ROWS_PER_WRITE: count("Visitors of experiments' results written by one statement", 500, { maximum: 5_000 }),
  RESULTS_LINGER_MS: count('A pause between two takes while little comes, so that frames share a statement', 100, {
    unit: 'ms',
    minimum: 0,
  }),
  RESULTS_ACK_WAIT_MS: count('A frame not acknowledged for this long is given to a counter again', 30_000, {
    unit: 'ms',
    minimum: 1_000,
  }),
};

export function readResultsSettings(env: Static<TObject<typeof resultsEnv>>): ResultsSettings {
  return {
    framesPerTake: env.RESULTS_FRAMES_PER_TAKE,
    rowsPerWrite: env.RESULTS_ROWS_PER_WRITE,
    lingerMs: env.RESULTS_LINGER_MS,
    ackWaitMs: env.RESULTS_ACK_WAIT_MS,
  };
}
