const openBrace = 0x7b;
const openBracket = 0x5b;
const space = 0x20;

/**
 * The `data` field of a form body: JSON, or the bytes of base64, which may be gzip. Undefined if the body is not a form
 * with such a field.
 */
export function readFormData(body: Buffer): Buffer | undefined {
  let at = 0;
  while (at < body.length && (body[at] as number) <= space) at += 1;
  if (at === body.length || body[at] === openBrace || body[at] === openBracket) return undefined;
  const data = new URLSearchParams(body.toString('utf8')).get('data') ?? undefined;
  if (data === undefined || data === '') return undefined;
  if (/^\s*[{[]/.test(data)) return Buffer.from(data);
  // A form decodes "+" as a space.
  return Buffer.from(data.replaceAll(' ', '+'), 'base64');
}
