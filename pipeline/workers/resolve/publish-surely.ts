import { lastStored } from '../../../shared/nats/messages/last-stored.ts';
import { PublishError, publish } from '../../../shared/nats/publish/publisher.ts';
import { persist } from '../persist.ts';
import type { ResolverContext } from './resolver-context.ts';

export type OutgoingMessage = {
  readonly stream: string;
  /** Nobody else publishes to it while this resolver runs. */
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly msgId: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Publishes until the log has it, once. The server forgets message ids after two minutes, so before another try
 * we look whether the one before, whose answer was lost, is the newest message of the subject. Returns its sequence.
 */
export async function publishSurely(context: ResolverContext, message: OutgoingMessage): Promise<number> {
  const { connection, logger, counts, settings, signal } = context;
  const { stream, subject, payload, msgId, headers } = message;
  return persist(
    async (attempt) => {
      // A request written while disconnected is lost, and its deadline would be waited for in vain.
      if (!connection.connected) throw new PublishError('disconnected', subject);
      const last = attempt > 1 ? await lastStored(connection, stream, subject) : undefined;
      if (last?.msgId === msgId) return last.seq;
      const { seq } = await publish(connection, subject, payload, {
        msgId,
        headers,
        timeoutMs: settings.publishTimeoutMs,
      });
      return seq;
    },
    {
      signal,
      isPassing: () => true,
      onRetry: (error, attempt) => {
        counts.publish_retries += 1;
        const reason = error instanceof PublishError ? error.reason : 'unreachable';
        if (attempt === 3) logger.warn({ subject, reason }, 'the log does not accept a message, retrying');
      },
    },
  );
}
