import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';

import { defaultEmbeddedCacheDir, findNatsServer } from '../embedded/nats/nats-binary.ts';
import { type PostgresServer, startPostgresServer } from '../embedded/postgres/postgres-server.ts';
import { makeMigratedTemplate } from './migrated-template.ts';
import { postgresFolder } from './run-folder.ts';

/** What a test can request. Each item is created at its first request, once for all test processes of the run. */
export type ServiceItem = 'nats-binary-path' | 'postgres-url' | 'migrated-template';

/** Provides the run's shared servers to test processes, which cannot share servers by themselves. */
export type ServerService = {
  readonly socketPath: string;
  /** Stops PostgreSQL if it was started, and cancels a running download. */
  close(): Promise<void>;
};

const replyDeadlineMs = 240_000;

/** Opens the service on a unix socket in the run's folder. */
export async function serveTestServers(runFolder: string): Promise<ServerService> {
  let postgres: Promise<PostgresServer> | undefined;
  let template: Promise<string> | undefined;
  let natsBinary: Promise<string> | undefined;
  const closing = new AbortController();

  const startPostgres = (): Promise<PostgresServer> =>
    (postgres ??= startPostgresServer({ dataDir: join(runFolder, postgresFolder), durable: false }));
  const provide: Record<ServiceItem, () => Promise<string>> = {
    'nats-binary-path': () => {
      natsBinary ??= findNatsBinary(closing.signal);
      return natsBinary;
    },
    'postgres-url': async () => (await startPostgres()).url,
    'migrated-template': async () => {
      template ??= makeMigratedTemplate((await startPostgres()).url);
      return template;
    },
  };

  const socketPath = join(runFolder, 'servers.sock');
  const server = await listen(socketPath, (item) =>
    Object.hasOwn(provide, item) ? provide[item as ServiceItem]() : undefined,
  );
  return {
    socketPath,
    close: async () => {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await (await postgres?.catch(() => undefined))?.stop();
    },
  };
}

/** Requests an item from the service at `socketPath`, from a test process. Rejects if it cannot be created in time. */
export function askServerService(socketPath: string, item: ServiceItem): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: `/${item}`, agent: false, timeout: replyDeadlineMs }, (reply) => {
      let body = '';
      reply.setEncoding('utf8');
      reply.on('data', (text: string) => {
        body += text;
      });
      reply.once('error', reject);
      reply.once('end', () => (reply.statusCode === 200 ? resolve(body) : reject(new Error(body))));
    });
    asked.once('timeout', () => asked.destroy(new Error(`the test run gave no ${item} in time`)));
    asked.once('error', reject);
    asked.end();
  });
}

async function listen(socketPath: string, provide: (item: string) => Promise<string> | undefined): Promise<Server> {
  const server = createServer((asked, reply) => {
    const item = (asked.url ?? '').slice(1);
    const made = provide(item) ?? Promise.reject(new Error(`there is no ${item} to be had`));
    made.then(
      (text) => reply.end(text),
      (error: unknown) => reply.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return server;
}

async function findNatsBinary(signal: AbortSignal): Promise<string> {
  const onProgress = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  return (await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress, signal })).path;
}
