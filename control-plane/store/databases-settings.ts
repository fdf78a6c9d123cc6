import { count, flag } from '../../shared/runtime/variables.ts';

export const databasesEnv = {
  CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL for the configuration, half of them for one account at a time. Four more are for looking up API keys, four for visitors and recent events, four for assignments to experiments',
    10,
    { minimum: 2 },
  ),
  MIGRATE_ON_START: flag('Whether a start brings the schema up to date; turn it off where a job of its own does', true),
};
