import { runCommand } from '../shared/command-line/run-command.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { migrationList } from '../shared/postgres/migrations/migration-list.ts';
import { readRoles } from '../shared/postgres/roles/role-settings.ts';
import { readMigrateEnv } from './env.ts';

// Brings the schema and the rights of the services' roles up to date and ends: for a deployment that migrates before it starts its services.
await runCommand('migrate', async () => {
  const env = readMigrateEnv();
  const { databaseUrl, databaseTls } = databaseAccess(env);
  const roles = await migrate(databaseUrl, databaseTls, migrationList, readRoles(env));
  const rights = roles.length === 0 ? '' : `; ${roles.join(' and ')} have the rights that their services need`;
  process.stdout.write(`the schema is up to date${rights}\n`);
});
