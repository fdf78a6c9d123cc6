import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { count } from '../runtime/variables.ts';

/**
 * Timeout of a pipeline's request to a destination, in ms. A control plane waits at least this long before it requests
 * an erasure.
 */
export const { variables: requestTimeoutEnv, read: readRequestTimeoutMs } = defineSettings(
  fromEnv({
    DISPATCH_TOTAL_TIMEOUT_MS: count(
      'Timeout from the first byte of a request to a destination to the last byte of the answer, which must begin within 10 seconds. Set the same for pipelines and control planes',
      15_000,
      { unit: 'ms', minimum: 10 },
    ),
  }),
);
