import type { Static, TObject } from 'typebox';
import { Type } from 'typebox';
import { heapEnv } from './heap-option.ts';
import { count, optionalText } from './variables.ts';

export const shutdownDeadline = {
  SHUTDOWN_DEADLINE_MS: count('How long a shutdown may take before the process exits anyway', 8_000, {
    unit: 'ms',
    minimum: 100,
  }),
};

/** Variables of every service. */
export const serviceEnv = {
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'Lowest severity that is logged',
  }),
  ...shutdownDeadline,
  ...heapEnv,
  INSTANCE_ID: optionalText('Name of this process among its peers, the same after a restart. Default: generated', {
    pattern: '^[A-Za-z0-9_-]{1,64}$',
  }),
};

export type ServiceEnv = Static<TObject<Pick<typeof serviceEnv, 'LOG_LEVEL' | 'SHUTDOWN_DEADLINE_MS'>>>;

/**
 * How long the first, longest step of a shutdown may take, in ms: the deadline less `closingMs`, but at least half of
 * the deadline.
 */
export const firstStepMs = (
  { SHUTDOWN_DEADLINE_MS: allMs }: Pick<ServiceEnv, 'SHUTDOWN_DEADLINE_MS'>,
  closingMs: number,
) => Math.max(allMs - closingMs, allMs / 2);
