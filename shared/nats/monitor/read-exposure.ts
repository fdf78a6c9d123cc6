import { connect } from 'node:net';
import { decodeJson, isJsonObject } from '../../runtime/json.ts';
import { readAccounts, readMonitor } from './read-monitor.ts';

/** What a nats-server shows a client without a login, as seen from this process. */
export type LogExposure = {
  readonly name: string;
  readonly accounts: readonly string[];
  /** Undefined: the server is in no cluster. */
  readonly clusterPort: ClusterPort | undefined;
};

export type ClusterPort =
  | { readonly isReachable: false; readonly address: string }
  /** What the server's greeting requires of other servers. */
  | {
      readonly isReachable: true;
      readonly address: string;
      readonly needsPassword: boolean;
      readonly needsCertificate: boolean;
    };

const anyAddress: ReadonlySet<string | undefined> = new Set([undefined, '', '0.0.0.0', '::']);

/** Reads a monitor port, and connects to the server's cluster port as another server would. Throws MonitorError. */
export async function readExposure(monitorUrl: string, timeoutMs: number): Promise<LogExposure> {
  const { server_name: name = 'nats-server', cluster } = await readMonitor(monitorUrl, timeoutMs);
  const accounts = await readAccounts(monitorUrl, timeoutMs);
  if (cluster?.cluster_port === undefined) return { name, accounts, clusterPort: undefined };
  const { addr, cluster_port: port } = cluster;
  const host =
    addr === undefined || anyAddress.has(addr) ? new URL(monitorUrl).hostname.replaceAll(/[[\]]/g, '') : addr;
  const address = `${host}:${port}`;
  const greeting = await readGreeting(host, port, timeoutMs);
  if (greeting === undefined) return { name, accounts, clusterPort: { isReachable: false, address } };
  const [needsPassword, needsCertificate] = [greeting['auth_required'] === true, greeting['tls_required'] === true];
  return { name, accounts, clusterPort: { isReachable: true, address, needsPassword, needsCertificate } };
}

const greetingBytesMax = 64 * 1024;

/** The greeting that a server sends on a port, `INFO {...}`; undefined if none arrives in time. */
function readGreeting(
  host: string,
  port: number,
  timeoutMs: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let text = '';
    const deadline = setTimeout(() => end(), timeoutMs);
    const end = (): void => {
      clearTimeout(deadline);
      socket.destroy();
      const greeting = /^INFO (\{.*\})\s*\r\n/.exec(text)?.[1];
      const info = greeting === undefined ? undefined : decodeJson(Buffer.from(greeting));
      resolve(isJsonObject(info) ? info : undefined);
    };
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
      if (text.includes('\r\n') || text.length > greetingBytesMax) end();
    });
    socket.once('error', end);
    socket.once('close', end);
  });
}
