/** Batch sizes and times of the actors that count results. */
export const resultsSettings = {
  /** Maximum number of frames taken at a time. */
  framesPerTake: 32,
  /** Visitors written by one statement. */
  rowsPerWrite: 500,
  /** A pause between two takes while little arrives, so that frames share a statement, in ms. */
  lingerMs: 100,
  /** Time after which the log redelivers a frame that is not acknowledged, in ms. */
  ackWaitMs: 30_000,
};

export type ResultsSettings = Readonly<typeof resultsSettings>;
