import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';

/** A real Prometheus with our configuration and rules. */
export type PrometheusServer = {
  /** The result of an instant query, empty if it has no data. Throws with Prometheus's own words. */
  query(expr: string): Promise<readonly Sample[]>;
  /** The problems that Prometheus reports for rules. */
  ruleProblems(): Promise<readonly string[]>;
  stop(): Promise<void>;
};

export type Sample = { readonly metric: Readonly<Record<string, string>>; readonly value: number };

type ScrapeConfig = { job_name: string; static_configs: { targets: string[] }[] };
type Config = { global: Record<string, string>; rule_files: string[]; scrape_configs: ScrapeConfig[] };

const folder = resolve(import.meta.dirname, '../prometheus');
const readyDeadlineMs = 60_000;
const stopDeadlineMs = 20_000;
const requestDeadlineMs = 15_000;

/** Starts Prometheus on `targets`, by job. It scrapes and evaluates every second. */
export async function startPrometheus(
  program: string,
  targets: Readonly<Record<string, string>>,
): Promise<PrometheusServer> {
  const data = await mkdtemp(join(tmpdir(), 'sluice-prometheus-'));
  const config = parse(await readFile(join(folder, 'prometheus.yml'), 'utf8')) as Config;
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  config.rule_files = config.rule_files.map((file) => join(folder, file));
  for (const job of config.scrape_configs) job.static_configs = [{ targets: [targets[job.job_name] ?? ''] }];
  await writeFile(join(data, 'prometheus.yml'), stringify(config));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    program,
    [
      `--config.file=${join(data, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(data, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = new Promise<void>((done) => child.once('close', () => done()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
    await exited;
    clearTimeout(late);
    await rm(data, { recursive: true, force: true });
  };
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(url + path, { signal: AbortSignal.timeout(requestDeadlineMs) });
    return answer.json();
  };
  const deadline = performance.now() + readyDeadlineMs;
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(requestDeadlineMs) }).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`Prometheus did not start:\n${said}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  return {
    async query(expr) {
      const answer = (await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)) as QueryAnswer;
      if (answer.status !== 'success') throw new Error(`querying ${expr}: ${answer.error ?? ''}`);
      return answer.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async ruleProblems() {
      const { data } = (await ask('/api/v1/rules')) as RulesAnswer;
      const rules = data.groups.flatMap((group) => group.rules);
      if (rules.length === 0) return ['no rules were loaded'];
      return rules.flatMap(({ name, health, lastError }) =>
        health === 'err' ? [`${name}: ${lastError ?? 'failed'}`] : [],
      );
    },
    stop,
  };
}

type QueryAnswer = {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
  };
};

type RulesAnswer = {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
    }[];
  };
};
