/** Batch sizes and times of the actors that count results. */
export const resultsSettings = {
  /** Maximum number of frames taken at a time. */
  framesPerTake: 32,
  /** Maximum number of visitors written by one statement. */
  rowsPerWrite: 500,
  /** Pause between two takes while few frames arrive, in ms, so that several frames share a statement. */
  lingerMs: 100,
  /** Time after which the log redelivers a frame that is not acknowledged, in ms. */
  ackWaitMs: 30_000,
};

export type ResultsSettings = Readonly<typeof resultsSettings>;
