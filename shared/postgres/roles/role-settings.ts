import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { optionalSecret, text } from '../../runtime/variables.ts';
import type { RoleLogin } from './grant-roles.ts';

const roleName = '^[A-Za-z_][A-Za-z0-9_-]{0,62}$';

/** Roles of the services, for the process that migrates. */
export const databaseRolesEnv = {
  DATABASE_CONTROL_PLANE_USER: text(
    'Role of control planes in PostgreSQL. Migrating gives it the rights they need, if the role exists',
    { default: 'sluice_control_plane', pattern: roleName },
  ),
  DATABASE_PIPELINE_USER: text(
    'Role of pipelines in PostgreSQL. Migrating gives it the rights they need, if the role exists',
    { default: 'sluice_pipeline', pattern: roleName },
  ),
};

/** Roles of the services with their passwords, from the environment. Only the command that migrates reads them. */
export const { variables: roleLoginsEnv, read: readRoles } = defineSettings(
  fromEnv(
    {
      ...databaseRolesEnv,
      DATABASE_CONTROL_PLANE_PASSWORD: optionalSecret(
        'With it migrating makes the role DATABASE_CONTROL_PLANE_USER, or gives it this password',
      ),
      DATABASE_PIPELINE_PASSWORD: optionalSecret(
        'With it migrating makes the role DATABASE_PIPELINE_USER, or gives it this password',
      ),
    },
    (env): readonly RoleLogin[] => [
      roleOf('controlPlane', env.DATABASE_CONTROL_PLANE_USER, env.DATABASE_CONTROL_PLANE_PASSWORD),
      roleOf('pipeline', env.DATABASE_PIPELINE_USER, env.DATABASE_PIPELINE_PASSWORD),
    ],
  ),
);

function roleOf(service: RoleLogin['service'], name: string, password: string | undefined): RoleLogin {
  return password === undefined ? { service, name } : { service, name, password };
}
