import { Command, Option } from 'commander';
import { EnvError } from '../shared/runtime/env.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import { readCommandEnv } from './env.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './keys/commands.ts';
import type { CommandContext, CreateOptions } from './keys/commands.ts';

// API keys from a shell that reaches the database: the first key of an installation, and keys when none is at hand.
const account = new Option('--account <id>', 'the account; may be left out where there is only one');

const program = new Command('keys').description('API keys of the configuration interface');
program
  .command('create')
  .description('make a key and print it; it is not shown again')
  .requiredOption('--name <name>', 'what it is for')
  .requiredOption('--scopes <scopes>', 'comma separated: destination:list,version:publish, or all')
  .option('--expires <time>', 'how long it is valid: 12h, 90d, or a date such as 2027-01-31')
  .option('--new-account <name>', 'make an account of this name and a key for it')
  .addOption(account)
  .action((options: CreateOptions) => run((context) => createKeyCommand(context, options)));
program
  .command('list')
  .description('list the keys of an account')
  .addOption(account)
  .action((options: { account?: string }) => run((context) => listKeysCommand(context, options.account)));
program
  .command('revoke <key>')
  .description('end a key, named by its id or its prefix slk_…')
  .addOption(account)
  .action((key: string, options: { account?: string }) =>
    run((context) => revokeKeyCommand(context, key, options.account)),
  );

await program.parseAsync();

async function run(command: (context: CommandContext) => Promise<string>): Promise<void> {
  try {
    const storage = await openStorage({ ...databaseAccess(readCommandEnv()), connectionsMax: 2 });
    try {
      process.stdout.write(`${await command({ storage, now: new Date() })}\n`);
    } finally {
      await storage.close();
    }
  } catch (error) {
    const reason = error instanceof EnvError ? error.problems.join('; ') : (error as Error).message;
    process.stderr.write(`keys: ${reason}\n`);
    process.exitCode = 1;
  }
}
