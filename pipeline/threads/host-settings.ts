import type { LogAccess } from '../../shared/nats/connection/log-access.ts';
import type { DatabaseAccess } from '../../shared/postgres/database-access.ts';
import type { DispatcherSettings } from '../workers/dispatch/dispatcher-context.ts';
import type { RecentSettings } from '../workers/recent/recent-settings.ts';
import type { ResolverSettings } from '../workers/resolve/resolver-context.ts';

/** What a thread is given when it starts: plain data. */
export type HostSettings = {
  readonly instanceId: string;
  /** Index of the thread, for names in logs and of connections. */
  readonly thread: number;
  readonly logLevel: string;
  readonly log: LogAccess;
  readonly replicas: number;
  readonly database: DatabaseAccess;
  readonly databaseConnectionsMax: number;
  readonly visitorCacheBytesMax: number;
  readonly secretsKey: string;
  /** CIDR ranges open to destinations on top of public addresses. */
  readonly egressRanges: readonly string[];
  readonly resolver: ResolverSettings;
  readonly recent: RecentSettings;
  readonly dispatcher: DispatcherSettings;
};
