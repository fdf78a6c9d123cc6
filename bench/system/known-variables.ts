import { readGatewayEnv } from '../../gateway/env.ts';
import { readPipelineEnv } from '../../pipeline/env.ts';
import { EnvError } from '../../shared/runtime/env.ts';

type Source = Readonly<Record<string, string | undefined>>;

const readers: Readonly<Record<string, (source: Source) => unknown>> = {
  gateway: readGatewayEnv,
  pipeline: readPipelineEnv,
};

/** Names of the environment variables that services read, recorded while their readers run. */
export function knownVariables(services: Iterable<string> = Object.keys(readers)): ReadonlySet<string> {
  const asked = new Set<string>();
  const source: Source = new Proxy(
    {},
    {
      get(_target, name) {
        if (typeof name === 'string') asked.add(name);
        return undefined;
      },
    },
  );
  for (const service of services) {
    try {
      readers[service]?.(source);
    } catch (error) {
      // Required variables are missing, but their names were recorded before.
      if (!(error instanceof EnvError)) throw error;
    }
  }
  return asked;
}
