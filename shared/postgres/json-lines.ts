/**
 * Many JSON texts as one parameter of a statement, one per line, since JSON.stringify writes no line breaks. In an
 * array pg would escape every quote, which for JSON takes longer than the rest of the statement, and the server would
 * have to unescape them.
 */
export const jsonLines = (texts: readonly string[]): string => texts.join('\n');

/** SQL that converts a parameter such as `$4`, the result of `jsonLines` for at least one text, to `jsonb[]`. */
export const jsonbOfLines = (parameter: string): string => `string_to_array(${parameter}, E'\\n')::jsonb[]`;
