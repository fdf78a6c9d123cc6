const openBrace = 0x7b;
const openBracket = 0x5b;
const space = 0x20;

/**
 * What a form holds in its field `data`, where a body is a form: JSON as it is, or in base64, which may itself be gzip.
 * Undefined for a body that is none.
 */
export function readFormData(body: Buffer): Buffer | undefined {
  let at = 0;
  while (at < body.length && (body[at] as number) <= space) at += 1;
  if (at === body.length || body[at] === openBrace || body[at] === openBracket) return undefined;
  const data = new URLSearchParams(body.toString('utf8')).get('data') ?? undefined;
  if (data === undefined || data === '') return undefined;
  if (/^\s*[{[]/.test(data)) return Buffer.from(data);
  // A plus that was not encoded is read as a space.
  return Buffer.from(data.replaceAll(' ', '+'), 'base64');
}
