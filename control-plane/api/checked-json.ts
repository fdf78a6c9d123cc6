import { isUtf8 } from 'node:buffer';
import sjson from 'secure-json-parse';
import { badRequest } from './api-error.ts';

const depthMax = 64;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads a request body. Throws a 400 for text that is not JSON, or JSON that could not be stored. */
export function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const value = parse(decode(bytes));
  checkStorable(value);
  return value;
}

/** Whether PostgreSQL can store the text, as text or in JSON: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw badRequest('the body must be UTF-8');
  // A byte order mark may come first.
  const start = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  return bytes.toString('utf8', start);
}

function parse(text: string): unknown {
  try {
    return sjson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' }) as unknown;
  } catch {
    throw badRequest('the body must be well-formed JSON, without __proto__ or constructor.prototype keys');
  }
}

// Not recursive: a body may nest deeper than the stack allows.
function checkStorable(root: unknown): void {
  const open: { readonly value: unknown; readonly depth: number; readonly field: string }[] = [
    { value: root, depth: 0, field: 'the body' },
  ];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, depth, field } = item;
    if (typeof value === 'string') {
      if (!isStorable(value)) throw badRequest('the body must not contain NUL characters or unpaired surrogates');
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw badRequest('the body must not contain a number beyond the range of a double');
    } else if (typeof value === 'object' && value !== null) {
      if (depth === depthMax) throw badRequest(`${field} must not nest deeper than ${depthMax} levels`);
      for (const [key, child] of Object.entries(value)) {
        if (!isStorable(key)) throw badRequest('the body must not contain NUL characters or unpaired surrogates');
        open.push({ value: child, depth: depth + 1, field: depth === 0 && key.length <= 100 ? key : field });
      }
    }
  }
}
