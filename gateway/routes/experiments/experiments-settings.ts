import type { Static, TObject } from 'typebox';
import { count, optionalText } from '../../../shared/runtime/variables.ts';
import type { ControlPlaneSettings } from './control-plane.ts';

export const experimentsEnv = {
  CONTROL_PLANE_URL: optionalText(
    'The control plane that serves experiments; without it they are not served under the ingest address',
    { pattern: '^https?://' },
  ),
  EXPERIMENT_REQUESTS_MAX: count('Requests for experiments on their way to the control plane; more are refused', 512),
  EXPERIMENT_DEADLINE_MS: count('The control plane answers a request for an experiment within this time', 2_000, {
    unit: 'ms',
    minimum: 10,
  }),
};

/** Undefined: experiments are not served by this gateway. */
export function readControlPlaneSettings(
  env: Static<TObject<typeof experimentsEnv>>,
): ControlPlaneSettings | undefined {
  const { CONTROL_PLANE_URL: url, EXPERIMENT_REQUESTS_MAX: requestsMax, EXPERIMENT_DEADLINE_MS: deadlineMs } = env;
  return url === undefined ? undefined : { url, requestsMax, deadlineMs };
}
