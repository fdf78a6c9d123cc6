import type { MsgHdrs } from 'nats';

/** The meaning of a server's status message for the pull that it answers. */
export type PullStatus =
  /** The server is alive. */
  | { readonly kind: 'heartbeat' }
  /** The pull ended normally: it expired, was filled, or found no messages. */
  | { readonly kind: 'over' }
  /** The consumer belongs to another group. */
  | { readonly kind: 'refused' }
  /** No server answers for the consumer, or it was deleted. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  /**
   * The pull ended early: the consumer has another leader or is at a limit, the server is shutting down, or the status
   * is unknown.
   */
  | { readonly kind: 'cut' };

type StatusMessage = { readonly headers?: Pick<MsgHdrs, 'code' | 'description'> };

/**
 * Reads the status line of a message without payload. Status 409 has many meanings, which only its text distinguishes;
 * the texts are in `server/consumer.go` of nats-server 2.9 to 2.15.
 */
export function readPullStatus({ headers }: StatusMessage): PullStatus {
  const { code, description } = headers ?? { code: 0, description: '' };
  switch (code) {
    case 100:
      return { kind: 'heartbeat' };
    case 400:
      return { kind: 'refused' };
    case 404:
    case 408:
      return { kind: 'over' };
    case 503:
      return { kind: 'unanswered', reason: `${code} ${description}`.trimEnd() };
    case 409:
      if (filled.test(description)) return { kind: 'over' };
      return deleted.test(description) ? { kind: 'unanswered', reason: `${code} ${description}` } : { kind: 'cut' };
    default:
      return { kind: 'cut' };
  }
}

const filled = /batch completed|message size/i;
const deleted = /consumer deleted/i;
