import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics } from 'prom-client';
import { defaultEmbeddedCacheDir } from '../../shared/embedded/machine/env.ts';
import { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import { removeMisnamed } from '../../shared/runtime/status/process-metrics.ts';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { ProgramNotFoundError, findPrometheusProgram } from './find-program.ts';
import { metricsByService } from './metrics-table.ts';

// Runs promtool on every file in this folder. Exit code: 0 valid, 1 problems found, 2 promtool not found.

const deadlineMs = 60_000;
const folder = fileURLToPath(new URL('deploy/prometheus/', topFolder));

async function main(): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  let promtool: string;
  try {
    promtool = await findPrometheusProgram('promtool', { cacheDir: defaultEmbeddedCacheDir(), onProgress: say });
  } catch (error) {
    if (!(error instanceof ProgramNotFoundError)) throw error;
    say(error.message);
    process.stdout.write('promtool: SKIPPED, nothing was checked: it is neither on PATH nor available from Debian\n');
    return 2;
  }
  const tests = (await readdir(join(folder, 'tests'))).map((name) => join(folder, 'tests', name));
  const checks: readonly (readonly [args: readonly string[], input?: string])[] = [
    [['check', 'config', join(folder, 'prometheus.yml')]],
    [['check', 'rules', join(folder, 'rules/recording.yml'), join(folder, 'rules/alerts.yml')]],
    [['test', 'rules', ...tests]],
    [['check', 'metrics'], await everyMetric()],
  ];
  let failed = 0;
  for (const [args, input] of checks) {
    const { ok, output } = await run(promtool, args, input);
    say(`${ok ? '✓' : '✗'} promtool ${args[0] ?? ''} ${args[1] ?? ''}`);
    if (ok) continue;
    failed += 1;
    say(output);
  }
  process.stdout.write(`promtool: ${checks.length - failed} checks passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

/** A metrics page with one series of every metric of every service. */
async function everyMetric(): Promise<string> {
  const page = new MetricsPage();
  collectDefaultMetrics({ register: page.registry });
  removeMisnamed(page.registry);
  for (const metric of Object.values(metricsByService).flat()) {
    const labels = Object.fromEntries(metric.labels.map((label) => [label, 'x']));
    if (metric.kind === 'histogram') page.showHistogram(metric, (add) => add([], labels));
    else page.show(metric, (add) => add(0, labels));
  }
  return page.text();
}

function run(promtool: string, args: readonly string[], input = ''): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      promtool,
      args,
      { timeout: deadlineMs, maxBuffer: 16 * 1024 ** 2 },
      (error, stdout, stderr) => resolve({ ok: error === null, output: `${stdout}${stderr}` }),
    );
    child.stdin?.end(input);
  });
}

process.exitCode = await main();
