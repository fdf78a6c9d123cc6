import { count } from '../../shared/runtime/variables.ts';

export const sessionEnv = {
  CONSOLE_SESSION_MS: count('How long a browser stays signed in to the console', 7 * 86_400_000, {
    unit: 'ms',
    minimum: 60_000,
    maximum: 30 * 86_400_000,
  }),
};
