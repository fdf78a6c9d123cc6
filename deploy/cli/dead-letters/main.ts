import { Argument, Command, Option } from 'commander';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { commandLogAccess } from '../doctor/log-login.ts';
import { commandEnv } from '../../local/env.ts';
import { readDeadLettersEnv } from './env.ts';
import { readAge } from './letter-choice.ts';
import { runDeadLetters } from './run-command.ts';
import type { DeadLettersRequest } from './run-command.ts';

type Options = {
  readonly reason?: string;
  readonly olderThan?: string;
  readonly seq?: string;
  readonly json?: true;
};

// Manages dead letters from a shell that can reach the log, including dead letters of ingest and of deleted
// destinations, which the configuration API does not show.
const program = new Command('dead-letters').description('Dead letters: events that were not delivered');
const actions = {
  list: "list them, with the reason and the platform's answer",
  show: 'print one dead letter of a destination (--seq) with the last request and the answer, secrets masked; it may hold personal data',
  retry:
    'process them again: ingest dead letters return to INGEST, destination dead letters are replayed to their destination',
  delete: 'delete them permanently',
} as const;
for (const action of ['list', 'show', 'retry', 'delete'] as const) {
  program
    .command(action)
    .description(actions[action])
    .addArgument(
      new Argument(
        '<of>',
        'ingest: events that could not be resolved, or were quarantined; else the id or the name of a destination',
      ),
    )
    .addOption(new Option('--reason <reason>', 'only dead letters of exactly this reason'))
    .addOption(new Option('--older-than <age>', 'only dead letters older than 90m, 12h, 7d'))
    .addOption(new Option('--seq <number>', 'for ingest and show: the dead letter with this number'))
    .addOption(new Option('--json', 'for programs: one JSON object per line, the total last'))
    .action((of: string, options: Options) => runCommand('dead-letters', () => run(action, of, options)));
}
await runProgram(program);

async function run(action: DeadLettersRequest['action'], of: string, options: Options): Promise<void> {
  const { reason, olderThan, seq, json } = options;
  if (seq !== undefined && !/^[1-9]\d*$/.test(seq)) throw new Error('--seq must be a number of 1 or more');
  const choice = {
    reason,
    toMs: olderThan === undefined ? undefined : Date.now() - readAge(olderThan),
    seq: seq === undefined ? undefined : Number(seq),
  };
  const env = readDeadLettersEnv(commandEnv());
  const connection = await connectLog({ ...(await commandLogAccess(env, 'operator')), name: 'dead-letters' });
  try {
    const say = (line: string): void => void process.stdout.write(`${line}\n`);
    const context = { connection, replicas: env.LOG_REPLICAS, isJson: json === true, say };
    await runDeadLetters(context, { action, of, choice });
  } finally {
    await connection.close();
  }
}
