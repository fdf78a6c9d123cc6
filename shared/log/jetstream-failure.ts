import { ErrorCode, NatsError } from 'nats';

const nobodyAnswers: string = ErrorCode.NoResponders;

/** What a failed request to JetStream means, in words; the client library has only a number for the first mistake one makes. */
export function jetStreamFailure(error: unknown): string {
  if (error instanceof NatsError && error.code === nobodyAnswers) {
    return 'nothing there answers for JetStream: nats-server runs without it (nats-server -js), or its cluster has no leader yet';
  }
  return error instanceof Error ? error.message : String(error);
}
