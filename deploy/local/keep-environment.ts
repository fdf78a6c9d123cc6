import { join } from 'node:path';
import { removeStackEnvironment, writeStackEnvironment } from '../../shared/command-line/local-stack.ts';
import type { VariableSource } from '../../shared/runtime/env.ts';
import { logEnv } from '../../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { databaseEnv } from '../../shared/postgres/database-access.ts';
import { configSigningKeyFile, secretsKeyFile } from './credentials.ts';
import type { StackDatabase, StackLog } from './servers.ts';

type Servers = {
  readonly log: Pick<StackLog, 'url' | 'monitorUrl' | 'logins'>;
  readonly database: Pick<StackDatabase, 'urls' | 'isMigrated'>;
};

/** Stores the stack's environment for commands on this machine. The returned function removes it. */
export async function keepEnvironment(
  folder: string,
  { log, database }: Servers,
  inherited: VariableSource,
): Promise<() => Promise<void>> {
  await writeStackEnvironment(folder, {
    ...pick(inherited, topologyEnv),
    // Embedded servers have the stack's logins. The logins at the caller's own servers are in the caller's environment.
    ...(log.logins === undefined ? pick(inherited, logEnv) : {}),
    ...(database.isMigrated ? {} : pick(inherited, databaseEnv)),
    NATS_URL: log.url,
    ...(log.monitorUrl === undefined ? {} : { NATS_MONITOR_URL: log.monitorUrl }),
    DATABASE_URL: database.urls.controlPlane,
    SECRETS_KEY_FILE: join(folder, secretsKeyFile),
    CONFIG_SIGNING_KEY_FILE: join(folder, configSigningKeyFile),
  });
  return () => Promise.resolve(removeStackEnvironment(folder));
}

/** The set variables of a slice, including those with the suffix `_FILE`. */
function pick(source: VariableSource, slice: object): VariableSource {
  const names = Object.keys(slice).flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
}
