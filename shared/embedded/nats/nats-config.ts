import { statfs } from 'node:fs/promises';

/** Configuration of an embedded nats-server. Ports are on 127.0.0.1 only. */
export type NatsConfig = {
  readonly serverName: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly pidFile: string;
  readonly storeDir: string;
  readonly maxPayloadBytes: number;
  /** Required, because the limit that nats-server chooses on a full disk is too small, and stays too small. */
  readonly maxFileStoreBytes: number;
  /**
   * If true, every acknowledged message survives a power cut; if not, the server flushes every two minutes by default.
   */
  readonly syncAlways: boolean;
  readonly cluster: NatsClusterConfig | undefined;
  /** Lines that are appended unchanged: certificates, users. */
  readonly furtherLines: string | undefined;
};

export type NatsClusterConfig = {
  readonly name: string;
  readonly port: number;
  /** Cluster ports of all nodes, including this one. */
  readonly routes: readonly number[];
  /** Password by which the nodes know each other; a server without it cannot join. */
  readonly password: string;
  /** The address under which other nodes reach this one. Default: the address it listens on. */
  readonly advertise?: string;
};

/** The text of a nats-server configuration file. */
export function renderNatsConfig(config: NatsConfig): string {
  const jetstream = [
    `  store_dir: ${quote(config.storeDir)}`,
    `  max_file_store: ${config.maxFileStoreBytes}`,
    ...(config.syncAlways ? ['  sync_interval: always'] : []),
  ];
  return [
    `server_name: ${quote(config.serverName)}`,
    `listen: "127.0.0.1:${config.port}"`,
    `http: "127.0.0.1:${config.monitorPort}"`,
    `pid_file: ${quote(config.pidFile)}`,
    `max_payload: ${config.maxPayloadBytes}`,
    'jetstream {',
    ...jetstream,
    '}',
    ...(config.cluster === undefined ? [] : renderCluster(config.cluster)),
    ...(config.furtherLines === undefined ? [] : [config.furtherLines]),
    '',
  ].join('\n');
}

const nodeUser = 'sluice-node';

function renderCluster(cluster: NatsClusterConfig): string[] {
  const login = `${nodeUser}:${encodeURIComponent(cluster.password)}`;
  return [
    'cluster {',
    `  name: ${quote(cluster.name)}`,
    `  listen: "127.0.0.1:${cluster.port}"`,
    `  authorization { user: ${quote(nodeUser)}, password: ${quote(cluster.password)} }`,
    // Clients take the nodes from NATS_URL, and ignore nodes that a server announces.
    '  no_advertise: true',
    ...(cluster.advertise === undefined ? [] : [`  advertise: ${quote(cluster.advertise)}`]),
    '  routes: [',
    ...cluster.routes.map((port) => `    "nats://${login}@127.0.0.1:${port}"`),
    '  ]',
    '}',
  ];
}

function quote(text: string): string {
  return JSON.stringify(text);
}

const mebibyte = 1024 ** 2;
const diskShare = 3 / 4;

/**
 * How many bytes the nats-server on a folder may store (`max_file_store`): three quarters of its disk, or more if its
 * streams may take more (`atLeastBytes`), up to the whole disk. The result depends on the size of the disk and not on
 * free space, so that every start gets the same limit. By default a server that starts on a full disk chooses a limit
 * that is too small for its streams, and keeps that limit when there is room again.
 */
export async function chooseFileStoreBytes(folder: string, atLeastBytes = 0): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return fileStoreBytes(blocks * bsize, atLeastBytes);
}

/**
 * The limit for a disk of this size, in whole mebibytes, so that the doctor can tell it from a server's own choice.
 */
export function fileStoreBytes(diskBytes: number, atLeastBytes: number): number {
  const bytes = Math.max(diskBytes * diskShare, Math.min(atLeastBytes, diskBytes));
  return Math.max(1, Math.floor(bytes / mebibyte)) * mebibyte;
}
