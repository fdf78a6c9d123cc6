import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

const tests = ['gateway/http/doors', 'gateway/http/fuzz', 'shared/egress/hostile-answers'];

const options = new Command('npm run fuzz --')
  .description('Sends generated requests and answers, and compares the results with their documentation')
  .option('--cases <number>', 'cases of each test', '4000')
  .option('--seed <number>', 'where the sequence of cases begins; a failed case is printed with its own number', '1')
  .parse()
  .opts<{ cases: string; seed: string }>();

const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--no-file-parallelism', ...tests], {
  cwd: fileURLToPath(topFolder),
  stdio: 'inherit',
  env: { ...process.env, FUZZ_CASES: options.cases, FUZZ_SEED: options.seed },
});
const [code] = (await once(child, 'exit')) as [number | null];
process.exitCode = code ?? 1;
