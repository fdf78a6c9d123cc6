import { readGatewayEnv } from '../../gateway/env.ts';
import { readPipelineEnv } from '../../pipeline/env.ts';
import { EnvError } from '../../shared/process/env.ts';

/** Names of the variables that gateways and pipelines read: those they ask for when they read their environment. */
export function knownVariables(): ReadonlySet<string> {
  const asked = new Set<string>();
  const source: Readonly<Record<string, string | undefined>> = new Proxy(
    {},
    {
      get(_target, name) {
        if (typeof name === 'string') asked.add(name);
        return undefined;
      },
    },
  );
  for (const read of [readGatewayEnv, readPipelineEnv]) {
    try {
      read(source);
    } catch (error) {
      // Some are required and nothing is set: they were asked for all the same.
      if (!(error instanceof EnvError)) throw error;
    }
  }
  return asked;
}
