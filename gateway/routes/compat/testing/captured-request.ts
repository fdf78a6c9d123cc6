import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { topFolder } from '../../../../shared/runtime/compiled-path.ts';

/** A request as a library of another service was seen to make it. */
export type CapturedRequest = {
  readonly library: string;
  readonly version: string;
  readonly call: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it goes over the wire. */
  readonly payload: Uint8Array;
  /** As text, with the spelling of the library. */
  readonly text: string;
};

const specLibraries = ['segment-python', 'segment-java', 'rudder-python'] as const;

/** Captured requests of libraries of Segment and RudderStack, with `key` in place of the key of the capture. */
export const capturedRequests = (key: string): readonly CapturedRequest[] =>
  specLibraries.flatMap((library) => readCaptures(library, key));

/**
 * Requests of eight unmodified versions of PostHog's browser library, recorded in Chromium 147 in November 2026. "Without
 * configuration": its requests for configuration and flags got a 404.
 */
export const capturedPostHogRequests = (key: string): readonly CapturedRequest[] => readCaptures('posthog-js', key);

function readCaptures(library: string, key: string): readonly CapturedRequest[] {
  const url = new URL(`gateway/routes/compat/testing/captures/${library}.jsonl`, topFolder);
  const lines = readFileSync(url, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => readCapture(line, key));
}

type Capture = Omit<CapturedRequest, 'payload' | 'text'> & {
  /** `gzip`; `form` is the field `data` of a form, in base64; null is the body as it stands there. */
  readonly encoding: string | null;
  /** Set where the body is no JSON. */
  readonly bodyText?: string;
};

const captureKey = 'wk_capture';
const bodyMark = /"body": ?/;

function readCapture(line: string, key: string): CapturedRequest {
  const capture = JSON.parse(line) as Capture;
  // The body is the last member of its line: how its numbers are spelt and a key that comes twice are part of the capture.
  const start = bodyMark.exec(line);
  if (start === null) throw new Error(`reading a capture of ${capture.library}: it has no body`);
  const text = (capture.bodyText ?? line.slice(start.index + start[0].length, line.lastIndexOf('}'))).replaceAll(
    captureKey,
    key,
  );
  const { authorization } = capture.headers;
  const basic = authorization === undefined ? {} : { authorization: `Basic ${btoa(`${key}:`)}` };
  const bytes = Buffer.from(text);
  return {
    ...capture,
    headers: { ...capture.headers, ...basic },
    payload: pack(bytes, capture.encoding),
    text,
  };
}

function pack(bytes: Buffer, encoding: string | null): Uint8Array {
  if (encoding === 'gzip') return gzipSync(bytes);
  return encoding === 'form' ? Buffer.from(`data=${encodeURIComponent(bytes.toString('base64'))}`) : bytes;
}
