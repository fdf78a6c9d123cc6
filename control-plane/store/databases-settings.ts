import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, flag } from '../../shared/runtime/variables.ts';

/** Connections for visitors and recent events. */
export const visitorConnectionsMax = 4;

/** Connections for the configuration. */
export const databaseConnections = {
  CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL for the configuration; one account uses at most half of them, and at most three, at a time. In addition there are four for API keys, four for visitors and recent events, and four for assignments to experiments',
    10,
    { minimum: 2 },
  ),
};

export const { variables: databasesEnv, read: readDatabasesSettings } = defineSettings({
  connectionsMax: fromEnv(databaseConnections),
  migratesOnStart: fromEnv({
    MIGRATE_ON_START: flag(
      'Whether a control plane upgrades the schema when it starts; turn this off if a separate job does',
      true,
    ),
  }),
});
