import { errors } from 'undici';
import type { OutboundAnswer } from './outbound.ts';
import { EgressError } from './egress-rules.ts';
import { SilenceError } from './http-connection.ts';
import { InvalidRequestError } from './write-request.ts';

/**
 * Why there is no response: the egress rules forbid the address, the request is invalid, the destination was too
 * slow, the connection failed or broke, or the request was withdrawn before any byte was sent.
 */
export type SendFailure = 'blocked' | 'invalid' | 'timeout' | 'connection' | 'withdrawn';

export type SendResult =
  | { readonly kind: 'answered'; readonly answer: OutboundAnswer }
  /**
   * No response; `permanent` if a retry would end the same way. `reason` is for people. `refusesAccess`: nothing was
   * sent, because the platform issues no token to the destination.
   */
  | {
      readonly kind: 'failed';
      readonly failure: SendFailure;
      readonly reason: string;
      readonly permanent: boolean;
      readonly refusesAccess?: true;
    };

export class SendTimeoutError extends Error {
  readonly code = 'TOTAL_TIMEOUT';
}

export class SenderClosedError extends Error {
  readonly code = 'SENDER_CLOSED';
}

export class WithdrawnError extends Error {
  readonly code = 'WITHDRAWN';
}

/** The result of a request that ended with an error instead of an answer. */
export function failureOf(error: unknown): SendResult {
  if (error instanceof EgressError) {
    const reason = 'address or port not allowed (EGRESS_ALLOW)';
    return { kind: 'failed', failure: 'blocked', reason, permanent: true };
  }
  if (error instanceof InvalidRequestError) {
    return { kind: 'failed', failure: 'invalid', reason: error.message, permanent: true };
  }
  if (error instanceof WithdrawnError) {
    return { kind: 'failed', failure: 'withdrawn', reason: error.code, permanent: false };
  }
  const code = error instanceof Error ? codeOf(error) : 'unknown';
  return {
    kind: 'failed',
    failure: isTimeout(error) ? 'timeout' : 'connection',
    reason: `network ${code}`,
    permanent: false,
  };
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof SendTimeoutError || error instanceof SilenceError || error instanceof errors.ConnectTimeoutError
  );
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
