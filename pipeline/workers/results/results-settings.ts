/** How experiments' results are counted. */
export const resultsSettings = {
  /** Frames that are taken at a time. */
  framesPerTake: 32,
  /** Visitors written by one statement. */
  rowsPerWrite: 500,
  /** A pause between two takes while little arrives, so that frames share a statement, in ms. */
  lingerMs: 100,
  /** The log delivers a frame again that is not acknowledged for this long, in ms. */
  ackWaitMs: 30_000,
};

export type ResultsSettings = Readonly<typeof resultsSettings>;
