import type { Logger } from '../../runtime/logger.ts';
import type { ConsumerTrouble } from './consumer-trouble.ts';

/**
 * A trouble that lasts this long is logged as an error, in ms. A shorter trouble needs no operator: after its creation
 * on a cluster, and after a server's restart, a consumer has no leader for some seconds.
 */
const calmMs = 15_000;
const errorEveryMs = 60_000;

/**
 * Logs the trouble of a consumer: a warning at first, an error if it lasts, and another error each minute. `fields`
 * identify the consumer.
 */
export function logConsumerTrouble(
  logger: Pick<Logger, 'warn' | 'error' | 'debug'>,
  fields: Readonly<Record<string, unknown>>,
): (trouble: ConsumerTrouble) => void {
  let nextErrorMs = calmMs;
  return (trouble) => {
    if (trouble.kind === 'recreated') {
      logger.warn(fields, 'consumer: it was missing; created it again');
      return;
    }
    if (trouble.kind === 'missed') {
      logger.warn(fields, 'consumer: messages were sent but did not arrive; requesting them again');
      return;
    }
    const { kind, lastsMs } = trouble;
    const about = {
      ...fields,
      lastsMs: Math.round(lastsMs),
      ...(kind === 'failed' ? { err: trouble.error } : { reason: trouble.reason }),
    };
    if (lastsMs === 0) nextErrorMs = calmMs;
    if (lastsMs >= nextErrorMs) {
      nextErrorMs = lastsMs + errorEveryMs;
      logger.error(about, 'consumer: still no messages');
      return;
    }
    const level = lastsMs === 0 ? 'warn' : 'debug';
    if (kind === 'failed') logger[level](about, 'consumer: requesting messages from the log failed; retrying');
    else logger[level](about, 'consumer: no answer; checking whether it still exists');
  };
}
