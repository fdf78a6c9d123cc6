/** A failure of an embedded server. `code` is stable; the message names the operation and the remedy. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
  readonly code: EmbeddedServerErrorCode;

  constructor(code: EmbeddedServerErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

export type EmbeddedServerErrorCode =
  | 'port_busy'
  | 'folder_in_use'
  | 'folder_unusable'
  | 'binary_not_found'
  | 'start_failed'
  | 'stop_failed';
