import type { Logger } from '../../shared/runtime/logger.ts';
import type { SourceFeed } from './follow-sources.ts';

const pollMs = 100;
/** Time in which a control plane publishes the configuration that gateways lack, in ms. */
const publishedWithinMs = 30_000;

/**
 * No account has a configuration for gateways. The process ends and is restarted until a control plane has published
 * one.
 */
export class NothingForGatewaysError extends Error {
  readonly code = 'nothing_for_gateways';
}

/**
 * Resolves once gateways have the configuration of every account that has published. While an upgrade rolls, the
 * control plane that publishes it may not have started, and without it every key is refused with 401. After a while it
 * no longer waits for single accounts, but throws NothingForGatewaysError if all are missing.
 */
export async function awaitAccounts(
  feed: Pick<SourceFeed, 'missing' | 'trusted'>,
  logger: Logger,
  withinMs = publishedWithinMs,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const missing = await feed.missing();
    if (missing === 0) return;
    if (performance.now() >= deadlineMs) {
      if (feed.trusted > 0) {
        logger.error({ missing }, 'some accounts have no configuration for gateways; their keys are refused');
        return;
      }
      throw new NothingForGatewaysError(
        'reading the configuration: GATEWAY_CONFIG is empty. Upgrade the control planes; they publish it within 30 seconds',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
