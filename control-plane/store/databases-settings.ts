import { count, flag } from '../../shared/runtime/variables.ts';

export const databasesEnv = {
  CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL for the configuration. Four more are for visitors and recent events, four for assignments to experiments',
    10,
    { minimum: 2 },
  ),
  CONTROL_PLANE_LOGIN_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL for looking up API keys, beside all others: whatever accounts do, a key is looked up',
    4,
  ),
  MIGRATE_ON_START: flag('Whether a start brings the schema up to date; turn it off where a job of its own does', true),
};
