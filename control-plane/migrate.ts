import { EnvError } from '../shared/runtime/env.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { readCommandEnv } from './env.ts';

// Brings the schema up to date and ends: for a deployment that migrates before it starts its services.
try {
  const { databaseUrl, databaseTls } = databaseAccess(readCommandEnv());
  await migrate(databaseUrl, databaseTls);
  process.stdout.write('the schema is up to date\n');
} catch (error) {
  const reason = error instanceof EnvError ? error.problems.join('; ') : String(error);
  process.stderr.write(`migrating failed: ${reason}\n`);
  process.exitCode = 1;
}
