import { weakestOf } from './read-durability.ts';
import type { Durability } from './read-durability.ts';
import { monitorUrls, readComplaint, readMonitor } from './read-monitor.ts';
import type { MonitorPage } from './read-monitor.ts';

/** One nats-server, as its monitor port reports it. */
export type LogServer = {
  readonly name: string;
  readonly version: string;
  /** The fault that its health page reports; undefined if it is healthy. */
  readonly complaint: string | undefined;
  /** Undefined: JetStream is not enabled there. */
  readonly storage: LogServerStorage | undefined;
  /** Whether its routes need certificates; undefined if the server is in no cluster. */
  readonly areRoutesEncrypted: boolean | undefined;
};

export type LogServerStorage = {
  /**
   * Limit for the bytes of all streams together: `max_file_store`, or the server's own choice if that is not
   * configured.
   */
  readonly limitBytes: number;
  readonly isLimitGiven: boolean;
  /** Sum of the size limits of the streams on the server, in bytes. */
  readonly reservedBytes: number;
  readonly usedBytes: number;
};

/** Reads every server in NATS_MONITOR_URL. Servers that do not answer are left out; never throws. */
export async function readLogServers(
  monitorUrlList: string | undefined,
  timeoutMs: number,
): Promise<readonly LogServer[]> {
  return (await readLogState(monitorUrlList, timeoutMs)).servers;
}

export type LogState = {
  /** Which failures an acknowledged event survives on the servers. */
  readonly durability: Durability;
  /** The servers that answered. */
  readonly servers: readonly LogServer[];
  /** Whether each monitor port answered, by its host and port: the name of a silent server is not known. */
  readonly answers: ReadonlyMap<string, boolean>;
};

/** Reads each server once. Returns the servers and their durability, as `readDurability` reports it. */
export async function readLogState(monitorUrlList: string | undefined, timeoutMs: number): Promise<LogState> {
  const urls = monitorUrls(monitorUrlList);
  const pages = await Promise.allSettled(urls.map((url) => readMonitor(url, timeoutMs)));
  const complaints = await Promise.allSettled(urls.map((url) => readComplaint(url, timeoutMs)));
  const found = pages.map((page, index) => {
    const complaint = complaints[index];
    return page.status === 'fulfilled' && complaint?.status === 'fulfilled'
      ? serverOf(page.value, complaint.value)
      : undefined;
  });
  const answers = new Map(
    urls.flatMap((url, index) => (URL.canParse(url) ? [[new URL(url).host, found[index] !== undefined]] : [])),
  );
  return { durability: weakestOf(pages), servers: found.filter((server) => server !== undefined), answers };
}

function serverOf(page: MonitorPage, complaint: string | undefined): LogServer {
  return {
    name: page.server_name ?? 'nats-server',
    version: page.version,
    complaint,
    storage: storageOf(page),
    areRoutesEncrypted: page.cluster?.cluster_port === undefined ? undefined : page.cluster.tls_required === true,
  };
}

function storageOf({ jetstream: { config, stats } }: MonitorPage): LogServerStorage | undefined {
  if (config?.max_storage === undefined) return undefined;
  return {
    limitBytes: config.max_storage,
    isLimitGiven: looksGiven(config.max_storage),
    reservedBytes: stats?.reserved_storage ?? 0,
    usedBytes: stats?.storage ?? 0,
  };
}

const wholeUnits = [1024 ** 2, 1000 ** 2];

/**
 * Whether a storage limit was probably configured; no page shows it. Without a configured limit a server takes three
 * quarters, rounded down, of the bytes that are free, or that it already uses, when it starts. Operators write whole
 * megabytes.
 */
export function looksGiven(limitBytes: number): boolean {
  if (limitBytes <= 0) return false;
  return wholeUnits.some((unit) => limitBytes % unit === 0) || limitBytes % 3 !== 0;
}
