/** An error as it crosses from one thread to another. */
export type WireError = { readonly code: string; readonly message: string; readonly stack: string };

export class RemoteError extends Error {
  readonly code: string;
  constructor({ code, message, stack }: WireError) {
    super(message);
    this.code = code;
    this.stack = stack;
  }
}

export function toWireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error), stack: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return { code, message: `${error.message}${cause}`, stack: error.stack ?? '' };
}
