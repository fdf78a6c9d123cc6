import { Command } from 'commander';
import { jsonOption, print } from '../shared/command-line/printed.ts';
import { runCommand, runProgram } from '../shared/command-line/run-command.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { migrationList } from '../shared/postgres/migrations/migration-list.ts';
import { readRoles } from '../shared/postgres/roles/role-settings.ts';
import { readMigrateEnv } from './env.ts';

const program = new Command('migrate')
  .description(
    'Upgrades the tables of the database and the rights of the roles of the services: for a deployment that migrates ' +
      'before it starts its services.',
  )
  .addOption(jsonOption())
  .action((options: { readonly json?: true }) =>
    runCommand('migrate', async () => {
      const env = readMigrateEnv();
      const { databaseUrl, databaseTls } = databaseAccess(env);
      const roles = await migrate(databaseUrl, databaseTls, migrationList, readRoles(env));
      const rights = roles.length === 0 ? '' : `; ${roles.join(' and ')} have the rights that their services need`;
      print(
        { text: `the schema is up to date${rights}`, value: { newest: migrationList.at(-1)?.name, roles } },
        options,
      );
    }),
  );

await runProgram(program);
