import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, flag } from '../../shared/runtime/variables.ts';

/** Connections for the configuration. */
export const databaseConnections = {
  CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL for the configuration, half of them for one account at a time. Four more are for looking up API keys, four for visitors and recent events, four for assignments to experiments',
    10,
    { minimum: 2 },
  ),
};

export const { variables: databasesEnv, read: readDatabasesSettings } = defineSettings({
  connectionsMax: fromEnv(databaseConnections),
  migratesOnStart: fromEnv({
    MIGRATE_ON_START: flag(
      'Whether a start brings the schema up to date; turn it off where a job of its own does',
      true,
    ),
  }),
});
