import { databaseAddress, ensureDatabase, makeTemplate } from '../embedded/postgres/postgres-database.ts';
import { migrate } from '../postgres/migrate.ts';
import { installTwins } from './twin-rows.ts';

const name = 'migrated_template';

/** Makes the database that test databases are copies of: migrated, with twins. Returns its name. */
export async function makeMigratedTemplate(serverUrl: string): Promise<string> {
  const address = databaseAddress(serverUrl);
  const url = await ensureDatabase(address, name);
  await installTwins(url);
  await migrate(url);
  await makeTemplate(address, name);
  return name;
}
