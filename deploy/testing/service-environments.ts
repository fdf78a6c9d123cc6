import { randomBytes } from 'node:crypto';
import { readControlPlaneEnv, readMigrateEnv } from '../../control-plane/env.ts';
import { readGatewayEnv } from '../../gateway/env.ts';
import { readPipelineEnv } from '../../pipeline/env.ts';
import { EnvError } from '../../shared/runtime/env.ts';
import { readSinkEnv } from '../local/sink/env.ts';

type Source = Readonly<Record<string, string | undefined>>;

/** The programs that a container can run, with the readers of their environments. */
const readers = {
  gateway: readGatewayEnv,
  pipeline: readPipelineEnv,
  'control-plane': readControlPlaneEnv,
  migrate: readMigrateEnv,
  sink: readSinkEnv,
};

export type ServiceName = keyof typeof readers;

export const isService = (name: unknown): name is ServiceName => typeof name === 'string' && name in readers;

/** The variables among `names` that the service never reads. */
export function unknownVariables(service: ServiceName, names: readonly string[]): string[] {
  const asked = new Set<string>();
  const recorder = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_target, name) {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  problemsWith(service, recorder);
  return names.filter((name) => !asked.has(name));
}

/** The problems that the service finds in its variables. Secrets in files are replaced by valid values. */
export function problemsOf(service: ServiceName, variables: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(variables).map(([name, value]) =>
    value.startsWith('/') && name.endsWith('_FILE') ? secretOf(name.slice(0, -'_FILE'.length)) : [name, value],
  );
  return problemsWith(service, Object.fromEntries(entries) as Record<string, string>);
}

const secretOf = (name: string): [string, string] => [
  name,
  name.endsWith('SECRETS_KEY') ? randomBytes(32).toString('base64') : (pemOf[name] ?? 'a password'),
];

const pemOf: Readonly<Record<string, string>> = {
  CONFIG_SIGNING_KEY: '-----BEGIN PRIVATE KEY-----',
  CONFIG_PUBLIC_KEYS: '-----BEGIN PUBLIC KEY-----',
};

function problemsWith(service: ServiceName, source: Source): readonly string[] {
  try {
    readers[service](source);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
}
