const stack = new Error('loaded').stack;

/** Returns the stack at which this module was loaded. */
export const runHost = (): string | undefined => stack;
