const needed = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_EXTRA_CA_CERTS'];

/**
 * What processes started by the bench inherit: nothing that tunes them, so that a variable left over in a terminal
 * changes no figure. Settings are given with --set, and stand in the result.
 */
export function inheritedEnv(): Readonly<Record<string, string>> {
  const pairs = needed.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}

/** Names the file that says how far the wall clock of a process with a clock that can be moved is off, in ms. */
export const clockFileVariable = 'FAULT_CLOCK_FILE';

export function clockFile(): string | undefined {
  return process.env[clockFileVariable];
}

/** Names the file that says whether there is a name server for a process whose names can be taken away. */
export const namesFileVariable = 'FAULT_NAMES_FILE';

export function namesFile(): string | undefined {
  return process.env[namesFileVariable];
}

/** Address and port of the name server that a service is to ask. */
export const nameServerVariable = 'BENCH_NAME_SERVER';

export function nameServer(): string | undefined {
  return process.env[nameServerVariable];
}
