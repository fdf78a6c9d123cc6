/**
 * Many JSON texts as one parameter of a statement. pg writes an array as text with every quote of every element escaped,
 * which for JSON is slower than all the rest of the statement, and the server reads them out again. JSON that was made by
 * JSON.stringify has no line breaks of its own.
 */
export const jsonLines = (texts: readonly string[]): string => texts.join('\n');

/** The `jsonb[]` of a parameter such as `$4` that holds what `jsonLines` made of at least one text. */
export const jsonbOfLines = (parameter: string): string => `string_to_array(${parameter}, E'\\n')::jsonb[]`;
