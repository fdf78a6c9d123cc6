import type { ScenarioContext } from './scenario.ts';

export type Attempts = {
  readonly attempt: ScenarioContext['attempt'];
  /** One line per subject that could not be measured. */
  readonly failures: readonly string[];
};

/** `isEnding`: whether the run is being stopped; a failure is then rethrown, which ends the scenario. */
export function createAttempts(say: (text: string) => void, isEnding: () => boolean): Attempts {
  const failed = new Map<string, string>();
  return {
    async attempt(subject, measure) {
      if (failed.has(subject)) return undefined;
      try {
        return await measure();
      } catch (error) {
        if (isEnding()) throw error;
        const line = `${subject} could not be measured: ${error instanceof Error ? error.message : String(error)}`;
        failed.set(subject, line);
        say(`! ${line}`);
        return undefined;
      }
    },
    get failures() {
      return [...failed.values()];
    },
  };
}
