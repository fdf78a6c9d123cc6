import { migrate } from '../postgres/migrate.ts';
import { migrationList } from '../postgres/migrations/migration-list.ts';
import { serviceRights } from '../postgres/roles/service-roles.ts';
import type { DatabaseService } from '../postgres/roles/service-roles.ts';

const services = Object.keys(serviceRights) as DatabaseService[];

// Derived from the role's name, so that every test process can log in to the same role.
const passwordOf = (role: string): string => `password-of-${role}`;
const databaseOf = (ownerUrl: string): string => decodeURIComponent(new URL(ownerUrl).pathname.slice(1));

/** The role of a service in a test's database. */
export const databaseRole = (database: string, service: DatabaseService): string => `${database}_${service}`;

/** The address with which a service logs in to a test's database that was migrated with roles. */
export function databaseRoleUrl(ownerUrl: string, service: DatabaseService): string {
  const role = databaseRole(databaseOf(ownerUrl), service);
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = passwordOf(role);
  return url.href;
}

/** Migrates a test's database and creates the services' roles for it alone. Returns each service's address. */
export async function migrateWithRoles(ownerUrl: string): Promise<Readonly<Record<DatabaseService, string>>> {
  const roles = services.map((service) => {
    const name = databaseRole(databaseOf(ownerUrl), service);
    return { service, name, password: passwordOf(name) };
  });
  await migrate(ownerUrl, undefined, migrationList, roles);
  return Object.fromEntries(services.map((service) => [service, databaseRoleUrl(ownerUrl, service)])) as Record<
    DatabaseService,
    string
  >;
}

const migrated = new Map<string, ReturnType<typeof migrateWithRoles>>();

/**
 * The address of a test's database with a service's login instead of the owner's. A service's code must not use another
 * address.
 */
export async function asDatabaseRole(ownerUrl: string, service: DatabaseService): Promise<string> {
  let urls = migrated.get(ownerUrl);
  if (urls === undefined) migrated.set(ownerUrl, (urls = migrateWithRoles(ownerUrl)));
  return (await urls)[service];
}
