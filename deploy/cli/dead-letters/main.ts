import { Argument, Command, Option } from 'commander';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { EnvError } from '../../../shared/runtime/env.ts';
import { commandLogAccess } from '../doctor/log-login.ts';
import { inheritedEnv } from '../../local/env.ts';
import { readDeadLettersEnv } from './env.ts';
import { readAge } from './letter-choice.ts';
import { runDeadLetters } from './run-command.ts';
import type { DeadLettersRequest } from './run-command.ts';

type Options = { readonly reason?: string; readonly olderThan?: string; readonly seq?: string };

// Dead letters, from a shell that reaches the log: also of those that belong to no
// destination, or to one that is gone, which the configuration interface does not show.
const program = new Command('dead-letters').description('Dead letters: events that were not delivered');
const actions = {
  list: 'list them, with the reason and what the platform answered',
  show: 'print one of a destination (--seq) with the last request and the answer, secrets masked; it may hold personal data',
  retry:
    'have them worked on again: those of ingest go into INGEST once more, those of a destination are replayed to it',
  delete: 'delete them for good',
} as const;
for (const action of ['list', 'show', 'retry', 'delete'] as const) {
  program
    .command(action)
    .description(actions[action])
    .addArgument(
      new Argument(
        '<of>',
        'ingest: events that could not be resolved, or were quarantined; else the id of a destination',
      ),
    )
    .addOption(new Option('--reason <reason>', 'those of exactly this reason'))
    .addOption(new Option('--older-than <age>', 'those older than 90m, 12h, 7d'))
    .addOption(new Option('--seq <number>', 'of ingest, and for show: the one with this number'))
    .action((of: string, options: Options) => run(action, of, options));
}
await program.parseAsync();

async function run(action: DeadLettersRequest['action'], of: string, options: Options): Promise<void> {
  try {
    const { reason, olderThan, seq } = options;
    if (seq !== undefined && !/^[1-9]\d*$/.test(seq)) throw new Error('--seq must be a number of 1 or more');
    const choice = {
      reason,
      toMs: olderThan === undefined ? undefined : Date.now() - readAge(olderThan),
      seq: seq === undefined ? undefined : Number(seq),
    };
    const env = readDeadLettersEnv(inheritedEnv());
    const connection = await connectLog({ ...(await commandLogAccess(env, 'operator')), name: 'dead-letters' });
    try {
      const say = (line: string): void => void process.stdout.write(`${line}\n`);
      await runDeadLetters({ connection, replicas: env.LOG_REPLICAS, say }, { action, of, choice });
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = error instanceof EnvError ? error.problems.join('; ') : (error as Error).message;
    process.stderr.write(`dead-letters: ${reason}\n`);
    process.exitCode = 1;
  }
}
