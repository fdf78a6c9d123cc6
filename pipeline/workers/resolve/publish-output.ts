import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import type { OutgoingMessage } from '../../../shared/nats/publish/publisher.ts';
import type { ResolverContext } from './resolver-context.ts';

/** Publishes until the log has it, once: nobody else writes to the subjects of a partition. Returns its sequence. */
export async function publishOutput(context: ResolverContext, message: OutgoingMessage): Promise<number> {
  const { connection, logger, counts, settings, signal } = context;
  const { seq } = await publishWithRetry(connection, message, {
    signal,
    timeoutMs: settings.publishTimeoutMs,
    isOnlyWriter: true,
    onRetry: (reason, attempt) => {
      counts.publish_retries += 1;
      if (attempt === 3)
        logger.warn({ subject: message.subject, reason }, 'the log does not accept a message, retrying');
    },
  });
  return seq;
}
