/**
 * Many JSON texts as one parameter of a statement, one a line: JSON.stringify writes no line breaks. pg would write an
 * array with every quote escaped, which for JSON takes longer than the rest of the statement, and the server would have
 * to unescape it.
 */
export const jsonLines = (texts: readonly string[]): string => texts.join('\n');

/** The `jsonb[]` of a parameter such as `$4` whose value is from `jsonLines`, of at least one text. */
export const jsonbOfLines = (parameter: string): string => `string_to_array(${parameter}, E'\\n')::jsonb[]`;
