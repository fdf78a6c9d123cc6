import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../api/api-error.ts';

const gone = new ApiError(400, 'bad_request', 'the request ended before its body did');

/** Reads a request's body. Rejects with a 413 as soon as it is known to be too large, and when the client goes away. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new ApiError(413, 'too_large', `the body must be at most ${bytesMax} bytes`));
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return tooLarge();
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        request.removeAllListeners('data');
        request.pause();
        tooLarge();
      } else if (first === undefined) first = chunk;
      else (more ??= [first]).push(chunk);
    });
    // Usually the body is one piece.
    request.on('end', () => resolve(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more)));
    request.on('error', () => reject(gone));
    request.on('close', () => reject(gone));
  });
}
