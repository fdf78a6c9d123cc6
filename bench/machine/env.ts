const needed = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_EXTRA_CA_CERTS'];

/**
 * The environment that processes of the bench inherit. Tuning variables are left out, so that a variable left over in a
 * terminal does not change a figure. Settings are given with --set, and stored in the result.
 */
export function inheritedEnv(): Readonly<Record<string, string>> {
  const pairs = needed.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}

/** Variable with the path of the file that has the clock offset in ms, for a process with a movable clock. */
export const clockFileVariable = 'FAULT_CLOCK_FILE';

export function clockFile(): string | undefined {
  return process.env[clockFileVariable];
}

/** Variable with the path of the file that disables the name server, for a process with movable names. */
export const namesFileVariable = 'FAULT_NAMES_FILE';

export function namesFile(): string | undefined {
  return process.env[namesFileVariable];
}

/** Variable with address and port of the name server that a service uses. */
export const nameServerVariable = 'BENCH_NAME_SERVER';

export function nameServer(): string | undefined {
  return process.env[nameServerVariable];
}
