import type pg from 'pg';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { scramVerifier } from './scram-verifier.ts';
import { serviceRights } from './service-roles.ts';
import type { DatabaseService, RoleRights } from './service-roles.ts';

/** The role that a service logs in as. */
export type RoleLogin = {
  readonly service: DatabaseService;
  readonly name: string;
  /** If set, a missing role is created, and the role gets this password. */
  readonly password?: string;
};

/** A role cannot be created or granted its rights; the message gives advice. */
export class RoleError extends Error {
  readonly code = 'database_role';
}

const insufficientPrivilege = '42501';

/**
 * Creates the roles that have passwords, and gives each existing role exactly the rights of its service, in one
 * transaction. Returns the names of the existing roles. If no role has a password, a client that does not own the
 * tables, or is one of the roles, changes nothing. Throws RoleError if a role has a password and the client is one of
 * the roles, or if the client lacks the rights for a change.
 */
export async function grantRoles(client: pg.Client, roles: readonly RoleLogin[]): Promise<readonly string[]> {
  const owner = await readOwner(client);
  const toMake = roles.find(({ password }) => password !== undefined);
  if (!owner.isSelf && toMake === undefined) return [];
  const own = roles.find(({ name }) => name === owner.self);
  if (own !== undefined && toMake === undefined) return [];
  if (own !== undefined) {
    throw new RoleError(
      `granting rights to roles: ${own.name} is the role of a service and also the user in DATABASE_URL, who creates tables. ` +
        'Migrate as the owner of the tables',
    );
  }
  await client.query('begin');
  try {
    for (const role of roles) await makeRole(client, role);
    const known = await existing(client, roles);
    if (known.length > 0) await client.query('revoke create on schema public from public');
    for (const role of known) await grant(client, role);
    await client.query('commit');
    return known.map(({ name }) => name);
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw explained(error, toMake);
  }
}

async function readOwner(client: pg.Client): Promise<{ readonly self: string; readonly isSelf: boolean }> {
  const { rows } = await client.query<{ self: string; owns: boolean | null }>(
    `select current_user::text as self,
       (select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('public.accounts')) as owns`,
  );
  return { self: rows[0]?.self ?? '', isSelf: rows[0]?.owns === true };
}

async function makeRole(client: pg.Client, { name, password }: RoleLogin): Promise<void> {
  if (password === undefined) return;
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
  const verb = rowCount === 0 ? 'create' : 'alter';
  const verifier = escapeLiteral(scramVerifier(password));
  await client.query(`${verb} role ${escapeIdentifier(name)} with login password ${verifier}`);
}

async function existing(client: pg.Client, roles: readonly RoleLogin[]): Promise<readonly RoleLogin[]> {
  const names = roles.map(({ name }) => name);
  const { rows } = await client.query<{ rolname: string }>('select rolname from pg_roles where rolname = any($1)', [
    names,
  ]);
  return roles.filter(({ name }) => rows.some(({ rolname }) => rolname === name));
}

async function grant(client: pg.Client, { service, name }: RoleLogin): Promise<void> {
  const role = escapeIdentifier(name);
  const rights: RoleRights = serviceRights[service];
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const database = escapeIdentifier(rows[0]?.name ?? '');
  const statements = [
    `revoke all on all tables in schema public from ${role}`,
    `revoke all on all sequences in schema public from ${role}`,
    `revoke all on schema public from ${role}`,
    `grant connect on database ${database} to ${role}`,
    `grant usage on schema public to ${role}`,
    ...Object.entries(rights)
      .filter(([, named]) => named.length > 0)
      .map(([table, named]) => `grant ${named.join(', ')} on ${table} to ${role}`),
    ...(await sequencesOf(client, rights)).map((sequence) => `grant usage on sequence ${sequence} to ${role}`),
  ];
  for (const statement of statements) await client.query(statement);
}

/** The sequences of the tables in which a role may insert rows. */
async function sequencesOf(client: pg.Client, rights: RoleRights): Promise<readonly string[]> {
  const tables = Object.entries(rights).flatMap(([table, named]) => (named.includes('insert') ? [table] : []));
  const { rows } = await client.query<{ name: string }>(
    `select distinct d.objid::regclass::text as name from pg_depend d join pg_class s on s.oid = d.objid
     where s.relkind = 'S' and d.deptype in ('a', 'i') and d.refobjid = any($1::regclass[])`,
    [tables],
  );
  return rows.map(({ name }) => name);
}

function explained(error: unknown, role: RoleLogin | undefined): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== insufficientPrivilege) return error;
  const made =
    role === undefined ? '' : `Create the role ${role.name} by hand and do not set its password here, or migrate`;
  return new RoleError(
    `granting rights to roles: ${error instanceof Error ? error.message : ''}. ${made || 'Migrate'} as the owner of the ` +
      'tables, with CREATEROLE if roles have to be created',
    { cause: error },
  );
}
