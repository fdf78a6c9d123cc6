import { Option } from 'commander';

/** The output of a command: as text for people, and as a value for programs. */
export type Printed = { readonly text: string; readonly value: unknown };

/** The option `--json`, for commands whose output programs may read. */
export const jsonOption = (description = 'for programs'): Option => new Option('--json', description);

/** Prints the output of a command as text, or with `--json` as JSON. */
export function print({ text, value }: Printed, { json }: { readonly json?: true }): void {
  process.stdout.write(`${json === true ? JSON.stringify(value, null, 2) : text}\n`);
}
