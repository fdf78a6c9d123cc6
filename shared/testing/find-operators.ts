import { logUsers } from '../nats/users/log-users.ts';

/** Names of the services' connections; tests use other names. */
const serviceConnection = /^(?:gateway-[0-9a-f]{12}$|pipeline-|sluice control plane$)/;
const askMs = 2_000;
const connectionsMax = 10_000;

type Connection = { readonly name?: string; readonly authorized_user?: string };

/** Names of the services that are or were connected to a server as operator; empty if the server does not respond. */
export async function findOperators(monitorUrl: string): Promise<readonly string[]> {
  const url = `${monitorUrl}/connz?auth=1&state=all&limit=${connectionsMax}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(askMs) }).catch(() => undefined);
  if (answer === undefined) return [];
  const { connections = [] } = (await answer.json()) as { readonly connections?: readonly Connection[] };
  const names = connections
    .filter(({ authorized_user: user }) => user === logUsers.operator.name)
    .flatMap(({ name = '' }) => (serviceConnection.test(name) ? [name] : []));
  return [...new Set(names)];
}
