import { count } from '../../shared/runtime/variables.ts';

export const sessionEnv = {
  CONSOLE_SESSION_MS: count('How long a browser stays signed in to the console when asked to', 12 * 3_600_000, {
    unit: 'ms',
    minimum: 60_000,
    maximum: 30 * 86_400_000,
  }),
};
