import { Command, Option } from 'commander';
import { jsonOption, print } from '../shared/command-line/printed.ts';
import type { Printed } from '../shared/command-line/printed.ts';
import { runCommand, runProgram } from '../shared/command-line/run-command.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import { readCommandEnv } from './env.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './keys/commands.ts';
import type { CommandContext, CreateOptions } from './keys/commands.ts';
import { scopeNames } from './keys/scopes.ts';

// Manages API keys from a shell that reaches the database: the first key of an installation, or a new key after all were lost.
const account = new Option('--account <id or name>', 'the account; optional if there is only one');
const json = jsonOption();
type Common = { readonly account?: string; readonly json?: true };

const program = new Command('keys').description('API keys of the configuration interface');
program
  .command('create')
  .description('create a key and print it; it is not shown again')
  .requiredOption('--name <name>', 'its purpose')
  .requiredOption(
    '--scopes <scopes>',
    'comma separated: destination:list,version:publish, or all; `keys scopes` lists them',
  )
  .option('--expires <time>', 'how long it is valid: 12h, 90d, or a date such as 2027-01-31')
  .option('--new-account <name>', 'create an account with this name, and a key for it')
  .addOption(account)
  .addOption(json)
  .action((options: CreateOptions & Common) => run(options, (context) => createKeyCommand(context, options)));
program
  .command('list')
  .description('list the keys of an account')
  .addOption(account)
  .addOption(json)
  .action((options: Common) => run(options, (context) => listKeysCommand(context, options.account)));
program
  .command('revoke <key>')
  .description('revoke a key, named by its id or its prefix slk_…')
  .addOption(account)
  .addOption(json)
  .action((key: string, options: Common) => run(options, (context) => revokeKeyCommand(context, key, options.account)));
program
  .command('scopes')
  .description('list the scopes that a key may have')
  .addOption(json)
  .action((options: Common) =>
    runCommand('keys', () => {
      print({ text: scopeNames.join('\n'), value: scopeNames }, options);
      return Promise.resolve();
    }),
  );

await runProgram(program);

function run(options: Common, command: (context: CommandContext) => Promise<Printed>): Promise<void> {
  return runCommand('keys', async () => {
    const storage = await openStorage({ ...databaseAccess(readCommandEnv()), connectionsMax: 2 });
    try {
      print(await command({ storage, now: new Date() }), options);
    } finally {
      await storage.close();
    }
  });
}
