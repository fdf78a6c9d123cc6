import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { topFolder } from '../../../../shared/runtime/compiled-path.ts';

/** A recorded request of another service's library. */
export type CapturedRequest = {
  readonly library: string;
  readonly version: string;
  readonly call: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes as they were sent. */
  readonly payload: Uint8Array;
  /** Body as text, with numbers and keys exactly as the library wrote them. */
  readonly text: string;
};

const specLibraries = ['segment-python', 'segment-java', 'rudder-python'] as const;

/** Captured requests of Segment's and RudderStack's libraries, with `key` in place of the captured key. */
export const capturedRequests = (key: string): readonly CapturedRequest[] =>
  specLibraries.flatMap((library) => readCaptures(library, key));

/**
 * Requests of eight unmodified versions of PostHog's browser library, recorded in Chromium 147 in November 2026.
 * "Without configuration": requests for configuration and flags got a 404.
 */
export const capturedPostHogRequests = (key: string): readonly CapturedRequest[] => readCaptures('posthog-js', key);

function readCaptures(library: string, key: string): readonly CapturedRequest[] {
  const url = new URL(`gateway/routes/compat/testing/captures/${library}.jsonl`, topFolder);
  const lines = readFileSync(url, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => readCapture(line, key));
}

type Capture = Omit<CapturedRequest, 'payload' | 'text'> & {
  /** `gzip`; `form`: `body` is the field `data` of a form, in base64; null: `body` is sent unchanged. */
  readonly encoding: string | null;
  /** Set if the body is not JSON. */
  readonly bodyText?: string;
};

const captureKey = 'wk_capture';
const bodyMark = /"body": ?/;

function readCapture(line: string, key: string): CapturedRequest {
  const capture = JSON.parse(line) as Capture;
  // The body is the last member of its line and is read as text, since its number formats and duplicate keys are part
  // of the capture.
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
