export type VariableSource = Readonly<Record<string, string | undefined>>;

/** The value of a variable, what is wrong with it, or neither when it is not set. */
export type ReadVariable = { readonly value?: string; readonly problem?: string };

/**
 * Reads `NAME`, or the file that `NAME_FILE` names, without the line breaks at its end. A variable whose own name ends
 * in `_FILE` is a path and is taken as it stands. An empty variable counts as absent, an empty file is a mistake.
 */
export function readVariable(name: string, source: VariableSource, readFile: (path: string) => string): ReadVariable {
  const direct = emptyIsAbsent(source[name]);
  if (name.endsWith('_FILE')) return direct === undefined ? {} : { value: direct };
  const fileVariable = `${name}_FILE`;
  const path = emptyIsAbsent(source[fileVariable]);
  if (path === undefined) return direct === undefined ? {} : { value: direct };
  if (direct !== undefined) return { problem: `${name} and ${fileVariable} are both set: keep one` };
  try {
    const value = readFile(path).replace(/[\r\n]+$/, '');
    return value === '' ? { problem: `${fileVariable} names ${path}, which is empty` } : { value };
  } catch (error) {
    return { problem: `${fileVariable} names ${path}, ${reasonOf(error)}` };
  }
}

const emptyIsAbsent = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'which does not exist';
  if (code === 'EACCES') return 'which this user may not read';
  if (code === 'EISDIR') return 'which is a folder';
  return 'which cannot be read';
}
