// `%2e` counts as a dot in the path of a URL, and `\\` as a slash.
const dotSegment = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i;

/**
 * Whether `.` or `..` is a segment of the URL's path. It would lead to another path: percent-encoding does not encode
 * dots, so a value of an event or an identifier of a person could choose what is called.
 */
export const hasDotSegment = (url: string): boolean => dotSegment.test(url.replace(/[?#].*$/s, ''));
