import { Client } from 'pg';

import { databaseAddress, ensureDatabase, makeTemplate } from '../embedded/postgres/postgres-database.ts';
import type { DatabaseAddress } from '../embedded/postgres/postgres-database.ts';
import { migrate } from '../postgres/migrate.ts';
import { installTwins } from './twin-rows.ts';

const templateName = 'migrated_template';

/** Creates the database from which test databases are copied, migrated and with twins. Returns its name. */
export async function makeMigratedTemplate(serverUrl: string): Promise<string> {
  const address = databaseAddress(serverUrl);
  const url = await ensureDatabase(address, templateName);
  await installTwins(url);
  await migrate(url);
  await makeTemplate(address, templateName);
  return templateName;
}

/** Copies the template to a new database, with a deployment id of its own as after a migration. Returns the URL. */
export async function copyTemplate(address: DatabaseAddress, template: string, name: string): Promise<string> {
  const url = await ensureDatabase(address, name, template);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('update deployment set id = gen_random_uuid()');
  } finally {
    await client.end();
  }
  return url;
}
