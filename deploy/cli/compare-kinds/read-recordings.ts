import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../../shared/runtime/json.ts';

const object = Type.Record(Type.String(), Type.Unknown());

/** One line of a file of recordings. */
const Recording = Type.Object(
  {
    name: Type.Optional(Type.String()),
    /** Type of the destination here. */
    kind: Type.String({ minLength: 1 }),
    /** Settings that override the kind's example settings; null removes a setting. */
    settings: Type.Optional(object),
    /** Traits that the person got from an earlier identify. */
    person: Type.Optional(object),
    /** Earlier messages of the same person. */
    before: Type.Optional(Type.Array(object, { maxItems: 100 })),
    event: object,
    /** The requests of the other service. */
    expected: Type.Unknown(),
    /** The member of our request that corresponds to `expected`, such as `data[0]`. */
    at: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
const recording = Compile(Recording);

export type Recording = Static<typeof Recording>;

/** The number of a line, counted from 1, with its recording or with the reason why the line is invalid. */
export type RecordingLine =
  | { readonly line: number; readonly recording: Recording }
  | { readonly line: number; readonly problem: string };

export const lineBytesMax = 1_048_576;

/** Reads recordings one line at a time. Empty lines are skipped. */
export async function* readRecordings(chunks: AsyncIterable<Buffer>): AsyncGenerator<RecordingLine> {
  let line = 0;
  for await (const bytes of linesOf(chunks)) {
    line += 1;
    if (bytes === 'too long') yield { line, problem: `is longer than ${lineBytesMax} bytes` };
    else if (bytes.some((byte) => byte > space)) yield { line, ...readLine(bytes.toString('utf8')) };
  }
}

const newline = 0x0a;
const space = 0x20;

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | 'too long'> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Buffer | 'too long' => {
    const whole = length > lineBytesMax ? 'too long' : Buffer.concat(parts);
    parts = [];
    length = 0;
    return whole;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      length += end - start;
      parts.push(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    length += chunk.length - start;
    // A line that is too long is counted but not kept.
    if (length <= lineBytesMax) parts.push(chunk.subarray(start));
    else parts = [];
  }
  if (length > 0) yield take();
}

function readLine(text: string): { readonly recording: Recording } | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `is not JSON: ${(error as Error).message}` };
  }
  if (recording.Check(value)) return { recording: value };
  const unknown = isJsonObject(value)
    ? Object.keys(value).find((name) => !Object.hasOwn(Recording.properties, name))
    : undefined;
  if (unknown !== undefined) {
    return {
      problem: `${unknown}: is not a member of a recording; the members are ${Object.keys(Recording.properties).join(', ')}`,
    };
  }
  const [error] = recording.Errors(value);
  const where = error === undefined || error.instancePath === '' ? '' : `${error.instancePath.slice(1)}: `;
  return { problem: `${where}${error?.message ?? 'is not a recording'}` };
}
