import { ErrorCode, NatsError } from 'nats';

const nobodyAnswers: string = ErrorCode.NoResponders;
/** "insufficient resources" and "insufficient storage resources available". */
const noRoom = new Set([10_023, 10_047]);

/** What a failed request to JetStream means, in words; the client library has only a number for the first mistake one makes. */
export function jetStreamFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof NatsError)) return error.message;
  if (error.api_error !== undefined) {
    const { description, err_code: code } = error.api_error;
    if (code === undefined || !noRoom.has(code)) return description;
    return `${description}: nats-server may not store as much as the streams may take together. Raise its max_file_store where the disk has room, else lower LOG_*_BYTES_MAX`;
  }
  if (error.code === nobodyAnswers) {
    return 'nothing there answers for JetStream: nats-server runs without it (nats-server -js), or its cluster has no leader yet';
  }
  return error.message;
}
