import type { Logger } from '../../shared/runtime/logger.ts';
import type { SourceFeed } from './follow-sources.ts';

const pollMs = 100;
/** Time within which a control plane publishes the configuration that gateways lack, in ms. */
const publishedWithinMs = 30_000;

/**
 * No account has a configuration for gateways. The process ends, and is restarted until a control plane has published a
 * configuration.
 */
export class NothingForGatewaysError extends Error {
  readonly code = 'nothing_for_gateways';
}

/**
 * Resolves once gateways have the configuration of every account that has published. During a rolling upgrade the
 * control plane that publishes this configuration might not have started yet, and a gateway without it would refuse
 * every key with 401. After `withinMs` it no longer waits if only some accounts are missing, and throws
 * NothingForGatewaysError if all are.
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
