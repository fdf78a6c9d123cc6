import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestAuthority } from '../../shared/testing/certificates.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { plainFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import type { TlsClientTold } from '../tls/tls-client-main.ts';

const atATime = 64;

type Client = { readonly name: string; readonly version: 'http1' | 'http2' };
type Measured = TlsClientTold & { readonly memoryBytes: number };

const clients: readonly Client[] = [
  { name: `HTTP/1.1 over ${atATime} connections, as deliveries go`, version: 'http1' },
  { name: `HTTP/2 over one connection, Node's own client`, version: 'http2' },
];

/** Why deliveries go over HTTP/1.1 where the other side offers HTTP/2 as well: what a request takes of the client's CPU. */
export const tls: Scenario = {
  name: 'tls',
  summary: `one event a request over TLS, ${atATime} at a time: CPU of the client over HTTP/1.1 and over HTTP/2`,
  bars: [],
  async run(context) {
    const measured = new Map<Client, Measured[]>(clients.map((client) => [client, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const client of clients) {
        const found = await context.attempt(client.name, () => measureOnce(context, client, round));
        if (found !== undefined) measured.get(client)?.push(found);
      }
    }
    return {
      settings: { atATime },
      rows: [...measured].map(([{ name }, rounds]) => rowOf(name, rounds)),
      measured: {},
    };
  },
};

function rowOf(name: string, rounds: readonly Measured[]): ResultRow {
  return {
    name,
    figures: {
      'requests/s': plainFigure(
        'per_s',
        'more',
        rounds.map(({ requests, seconds }) => requests / seconds),
      ),
      'CPU a request': plainFigure(
        'ns',
        'less',
        rounds.map(({ cpuMs, requests }) => (cpuMs * 1e6) / requests),
      ),
      memory: plainFigure(
        'bytes',
        'less',
        rounds.map(({ memoryBytes }) => memoryBytes),
      ),
    },
  };
}

function measureOnce(context: ScenarioContext, { name, version }: Client, round: number): Promise<Measured> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${name}, round ${round}`, seconds + warmUpSeconds);
    const files = await writeCertificates(await mkdtemp(join(stage.folder, 'tls-')));
    const server = await stage.startChild({
      name: 'tls-server',
      entry: 'bench/tls/tls-server-main',
      args: [files.cert, files.key],
    });
    const port = String(await server.nextMessage());
    const client = await stage.startChild({
      name: `tls-client-${version}`,
      entry: 'bench/tls/tls-client-main',
      args: [version, `https://127.0.0.1:${port}`, ...[atATime, warmUpSeconds * 1_000, seconds * 1_000].map(String)],
      env: { NODE_EXTRA_CA_CERTS: files.ca },
    });
    const told = (await client.nextMessage()) as TlsClientTold;
    return { ...told, memoryBytes: await peakMemoryBytes(client.pid) };
  });
}

type Files = Readonly<Record<'ca' | 'cert' | 'key', string>>;

/** Names of the files. */
async function writeCertificates(folder: string): Promise<Files> {
  const authority = await createTestAuthority('bench authority');
  const texts = { ca: authority.ca, ...(await authority.server()) };
  const files = { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  for (const name of ['ca', 'cert', 'key'] as const) await writeFile(files[name], texts[name]);
  return files;
}
