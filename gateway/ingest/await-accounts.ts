import type { Logger } from '../../shared/runtime/logger.ts';
import type { SourceFeed } from './follow-sources.ts';

const pollMs = 100;
/** A control plane publishes what gateways lack within this, in ms. */
const publishedWithinMs = 30_000;

/** Gateways have no configuration: the process ends, and is started again until a control plane has published it. */
export class NothingForGatewaysError extends Error {
  readonly code = 'nothing_for_gateways';
}

/**
 * Resolves once gateways have the configuration of every account that has published. While an upgrade rolls, the control
 * plane that publishes it may not have started, and without it every key is refused with 401. A few accounts that stay away
 * are no reason to wait for ever. Throws NothingForGatewaysError where all are missing by then.
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
