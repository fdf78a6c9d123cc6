/**
 * Texts that programs send if they have no identifier: an unset variable, the name of the field, a default user. If
 * such a text counted as an identifier, all visitors with it would become one visitor, so events are accepted without
 * it.
 *
 * Compared in lower case, without the spaces, brackets and quotes around them.
 */
const placeholders: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'nil',
  'none',
  'nan',
  'n/a',
  'not set',
  'not_set',
  'notset',
  'true',
  'false',
  'object object',
  '-1',
  'unknown',
  'anonymous',
  'guest',
  'test',
  'not_authenticated',
  'id',
  'email',
  'user_id',
  'userid',
  'user.id',
  'external_id',
  'externalid',
  'anonymous_id',
  'anonymousid',
  'distinct_id',
  'distinctid',
  // The distinct_id of posthog-js in all browsers without consent.
  'posthog_cookieless',
]);

/** A longer text is never a placeholder. */
const charactersMax = 64;

/**
 * Matches text of only zeros, or of only x (at least three), also in groups (`00000000-0000-…`), and ASCII text without
 * letters and digits.
 */
const filler = /^(?:[-_.:/ ]*0[-0_.:/ ]*|[-_.:/ ]*(?:x[-_.:/ ]*){3,}|[^a-z0-9\u0080-\uffff]*)$/;
/** A template's variable for which no value was inserted: `{{customer.id}}`, `${userId}`, `%%email%%`, `<%= id %>`. */
const template = /^[\s()[\]{}<>"'`]*(?:\{\{.*\}\}|\$\{.*\}|%%.*%%|<%.*%>)[\s()[\]{}<>"'`]*$/s;
const around = /^[\s()[\]{}<>"'`$%]+|[\s()[\]{}<>"'`$%]+$/g;

/** Whether an identifier (userId, externalId or e-mail address) is a placeholder and identifies no visitor. */
export function isPlaceholder(text: string): boolean {
  if (text === '') return true;
  if (text.length > charactersMax || !mayStandAround(text.charCodeAt(0), text.charCodeAt(text.length - 1)))
    return false;
  const bare = bareIdentifier(text);
  return placeholders.has(bare) || filler.test(bare) || template.test(text);
}

/**
 * The form in which identifiers are compared with blocked values: lower case, without brackets, quotes and spaces
 * around them.
 */
export const bareIdentifier = (text: string): string => text.replace(around, '').toLowerCase();

/** As `isPlaceholder`, for UTF-8 text without escapes at bytes[start, end). */
export function isPlaceholderAt(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  // The limit is in characters, each of which takes up to four bytes.
  if (end - start > charactersMax * 4 || !mayStandAround(bytes[start] as number, bytes[end - 1] as number))
    return false;
  return isPlaceholder(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
}

/**
 * Whether a text with this first and last character may be a placeholder; most identifiers cannot be, and need no
 * closer check. Characters beyond ASCII may be spaces.
 */
const mayStandAround = (first: number, last: number): boolean =>
  (first >= firstNonAscii || beginnings[first] === 1) && (last >= firstNonAscii || endings[last] === 1);

const firstNonAscii = 0x80;
const beginnings = codesOf((text) => text.charAt(0));
const endings = codesOf((text) => text.charAt(text.length - 1));

/**
 * Flags by ASCII code: 1 for the first or last characters (`endOf`) of placeholders, in either case, and for all
 * characters except letters and digits.
 */
function codesOf(endOf: (text: string) => string): Uint8Array {
  const ends = new Set(['x', '0', ...[...placeholders].map(endOf)]);
  return Uint8Array.from({ length: firstNonAscii }, (_, code) => {
    const character = String.fromCharCode(code).toLowerCase();
    return ends.has(character) || !/[a-z0-9]/.test(character) ? 1 : 0;
  });
}
