import { benchSettings } from './bench-settings.ts';

type Env = Readonly<Record<string, string>>;

/**
 * Environment of a service: the bench's settings, what was given with --set, and before both what the scenario turns or
 * needs itself. Throws where --set names one of those: the result would say one thing and have measured another.
 */
export function serviceEnv(needed: Env, given: Env): Env {
  const taken = Object.keys(given).filter((name) => name in needed);
  if (taken.length > 0) throw new Error(`--set ${taken.join(', ')}: the scenario sets it itself`);
  return { ...benchSettings, ...given, ...needed };
}
