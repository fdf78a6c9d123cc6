import { optionalText } from '../../runtime/variables.ts';

/** What an operator can set of the embedded servers. */
export const embeddedEnv = {
  SLUICE_NATS_SERVER: optionalText('Path of a nats-server binary to use instead of looking for one'),
};

/** The environment variables the embedded servers look at, read once per call and nowhere else. */
export function readEmbeddedEnv(): EmbeddedEnv {
  return {
    XDG_CACHE_HOME: nonEmpty(process.env['XDG_CACHE_HOME']),
    HOME: nonEmpty(process.env['HOME']),
    PATH: process.env['PATH'] ?? '',
    SLUICE_NATS_SERVER: nonEmpty(process.env['SLUICE_NATS_SERVER']),
  };
}

/** What a server inherits beside what it is told. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}

export type EmbeddedEnv = {
  readonly XDG_CACHE_HOME: string | undefined;
  readonly HOME: string | undefined;
  readonly PATH: string;
  readonly SLUICE_NATS_SERVER: string | undefined;
};

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}
